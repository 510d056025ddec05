import { expect, test } from "vitest";
import { withoutPrefix } from "./view.ts";

test("[TERMINAL-42] tmux's prefix key is doubled in every form that tmux reads, and nothing else is touched", () => {
  const typed = (text: string): string => withoutPrefix(Buffer.from(text, "latin1")).toString("latin1");
  expect(typed("\x02d")).toBe("\x02\x02d");
  expect(typed("a\x1b[98;5ub")).toBe("a\x02\x02b");
  expect(typed("\x1b[27;5;98~s")).toBe("\x02\x02s");
  const bytes = Buffer.from("grün \x1b[A\x03", "utf8");
  expect(withoutPrefix(bytes)).toBe(bytes);
});
