import { describe, expect, test } from "vitest";
import { isPlain } from "./inert.ts";

describe("[WEB-46] a line that markdown would show as it stands need not be read as markdown", () => {
  test.each(["tick 1/600\n", "That was thing 3.", "Ünder (way), isn't it?"])("%j", (text) => {
    expect(isPlain(text)).toBe(true);
  });
  test.each([
    "**bold**",
    "`code`",
    "# title",
    "- item",
    "1. first",
    "2) second",
    "    indented",
    "see www.example.org",
    "see https://example.org",
    "a@example.org",
    "&lt;",
    "one\ntwo",
    "\u202etxt.exe",
    "a_b_",
    "",
  ])("not %j", (text) => {
    expect(isPlain(text)).toBe(false);
  });
});
