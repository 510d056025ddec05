/** Colours by their meaning; without colours the same functions give the text back. */
import { styleText } from "node:util";

export type Paint = Record<"green" | "cyan" | "blue" | "dim" | "yellow" | "red" | "bold", (text: string) => string>;

const names = ["green", "cyan", "blue", "dim", "yellow", "red", "bold"] as const;

export function makePaint(colours: boolean): Paint {
  const painters = names.map((name) => [
    name,
    // Whether to colour at all is decided once, by the caller; styleText must not look at a stream again.
    colours ? (text: string) => styleText(name, text, { validateStream: false }) : (text: string) => text,
  ]);
  return Object.fromEntries(painters) as Paint;
}

/** NO_COLOR counts when it is set to anything but the empty string. */
export function wantsColours(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  return isTerminal && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}
