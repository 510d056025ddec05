/** Checks that several parts of the configuration share. */
import * as z from "zod/mini";

/** Linux refuses a single argument or variable of 128 KiB. */
export const maxTextLength = 100_000;

/** A check whose message and hint are shown as they are. */
export const rule = (fault: (text: string) => { message: string; hint: string } | null) =>
  z.superRefine<string>((text, context) => {
    const found = fault(text);
    if (found !== null) {
      context.issues.push({ code: "custom", input: text, message: found.message, params: { hint: found.hint } });
    }
  });
export const noNul = rule((text) =>
  text.includes("\0") ? { message: "may not contain a NUL character", hint: "remove the \\0" } : null,
);
export const words = (): z.ZodMiniString => z.string().check(z.minLength(1), z.maxLength(maxTextLength), noNul);
