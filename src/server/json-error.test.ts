import * as fc from "fast-check";
import { expect, test } from "vitest";
import { findJsonError } from "./json-error.ts";

const cases: [string, number, number, string][] = [
  ["", 1, 1, "a value"],
  ["xyz", 1, 1, "a value"],
  ["{a}", 1, 2, 'a key in double quotes or "}"'],
  ['{"a":1,}', 1, 8, "a key in double quotes"],
  ['{"a" 1}', 1, 6, '":"'],
  ['{"a":1 "b":2}', 1, 8, '"," or the closing bracket'],
  ['{\n  "a": tru\n}', 2, 8, "a value"],
  ["[1,", 1, 4, "a value"],
  ["[1]]", 1, 4, "the end of the text"],
  ['"abc', 1, 5, "the closing quote"],
  ['"a\\x"', 1, 3, "a valid escape"],
  ['"a\nb"', 1, 3, "control characters to be escaped"],
  ["01", 1, 2, "the end of the text"],
];

test.each(cases)("[HTTP-9] %j breaks at line %i, column %i: %s expected", (text, line, column, expected) => {
  expect(findJsonError(text)).toEqual({ line, column, expected });
});

test("[HTTP-9] an error is found exactly where JSON.parse refuses", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"a"',
    '"',
    "1",
    "-",
    ".5",
    "e3",
    "null",
    "tru",
    " ",
    "\n",
    "\\",
  );
  const broken = fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(broken, fc.json()), (text) => {
      let parses = true;
      try {
        JSON.parse(text);
      } catch {
        parses = false;
      }
      expect(findJsonError(text) === null).toBe(parses);
    }),
    { numRuns: 2000 },
  );
});

test("[HTTP-9] a million open brackets do not exhaust the stack", () => {
  expect(findJsonError("[".repeat(1_000_000))).toMatchObject({ column: 1_000_001 });
});
