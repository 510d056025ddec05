import { describe, expect, test } from "vitest";
import { isPlain, plainOutput, safeAddress, safeText } from "./inert.ts";

test("[WEB-49] program output is shown without escape sequences, clipboard writes or overwritten parts", () => {
  expect(plainOutput("\u001b[31mred\u001b[0m \u001b]52;c;aGk=\u0007after\u001b]0;title\u001b\\!")).toBe("red after!");
  expect(plainOutput("10%\r20%\rdone\r\nnext")).toBe("done\nnext");
  expect(plainOutput("a\u0000b\u0008c\td")).toBe("abc\td");
  expect(plainOutput("\u001b]52;c;never closed")).toBe("");
});

test("[WEB-49] characters that change the text direction are written out", () => {
  expect(safeText("invoice\u202Etxt.exe")).toBe("invoice[U+202E]txt.exe");
  expect(safeText("\u2066a\u2069 עברית")).toBe("[U+2066]a[U+2069] עברית");
});

test.each([
  ["https://example.org/a", "https://example.org/a"],
  ["mailto:a@example.org", "mailto:a@example.org"],
  ["javascript:alert(1)", null],
  [" JaVaScript:alert(1)", null],
  ["java\nscript:alert(1)", null],
  ["data:text/html,x", null],
  ["vbscript:x", null],
  ["file:///etc/passwd", null],
  ["//example.org", null],
  ["/api/sessions", null],
  ["#top", null],
])("[WEB-49] a link to %s leads to %s", (url, leads) => {
  expect(safeAddress(url)).toBe(leads);
});

describe("[WEB-55] a line that Markdown would not change is not parsed", () => {
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
