/** Asks for a login link and, where there is a browser to open, for the file that leads there. */
import type { Answers } from "../../../contract/answers.ts";
import { HoldfastError } from "../../../contract/error.ts";
import type { Context } from "../../context.ts";
import { hasBrowser } from "./open-browser.ts";

export async function askLoginLink(context: Context, opens: boolean): Promise<Answers["loginLink"]> {
  if (!opens || !hasBrowser(context.env)) return context.call("loginLink", { body: {} });
  try {
    return await context.call("loginLink", { body: { file: true } });
  } catch (error) {
    // A daemon of an earlier version knows no files: its link is printed, and opened by hand.
    if (!(error instanceof HoldfastError) || error.code !== "invalid") throw error;
    return context.call("loginLink", { body: {} });
  }
}
