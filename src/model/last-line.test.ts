import { expect, test } from "vitest";
import { lastLineOf } from "./last-line.ts";

test("[LOOK-10] the last line that says something, as plain text", () => {
  expect(lastLineOf("first\n  second   line \n\n```\n---\n")).toBe("second line");
  expect(lastLineOf("one\r\ntwo\rthree")).toBe("three");
  expect(lastLineOf("```\n\n")).toBeNull();
  expect(lastLineOf("")).toBeNull();
  expect(lastLineOf("done\n✓")).toBe("✓");
});

test("[LOOK-10] nothing in it acts: no escape sequences, control characters or changes of direction, and not too long", () => {
  expect(lastLineOf("\x1b[31mred\x1b[0m \x1b]52;c;aGk=\x07and\x00 \x9bplain\x7f")).toBe("red and plain");
  expect(lastLineOf("user\u202Etxt.exe\u2066 \u200Fend")).toBe("usertxt.exe end");
  const long = lastLineOf("😀".repeat(300))!;
  expect(Array.from(long)).toHaveLength(200);
  expect(long.endsWith("😀…")).toBe(true);
  expect(lastLineOf("a\ud800b")).toBe("a\ufffdb");
});
