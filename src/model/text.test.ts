import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { compareNaturally, lastLineOf, quoteShellWord } from "./text.ts";

test("[TEXT-6] a pasted word is that word and nothing else", () => {
  const words = fc.sample(fc.string({ unit: "binary", minLength: 1 }), { numRuns: 200, seed: 1 });
  const hostile = [
    "$(id)",
    "`id`",
    "a;b",
    "it's",
    "-x",
    "a b",
    "!!",
    "*",
    "~",
    "=ls",
    "a\nb",
    "\u001b[2J",
    "\u202e",
    "a\u{e0041}b",
    "é",
  ];
  const all = [...hostile, ...words].filter((word) => !word.includes("\0") && !/[\ud800-\udfff]/.test(word));
  const script = `printf '%s\\0' ${all.map(quoteShellWord).join(" ")}`;
  const env = { ...process.env, LC_ALL: "C.UTF-8" };
  const printed = execFileSync("bash", ["-c", script], { env }).toString().split("\0").slice(0, -1);
  expect(printed).toEqual(all);
  // Nothing that a terminal obeys is in what is shown.
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  expect(script).not.toMatch(/[\u0001-\u001f\u007f-\u009f\u202a-\u202e]/);
});

test("[API-52] the last line that says something, as plain text", () => {
  expect(lastLineOf("first\n  second   line \n\n```\n---\n")).toBe("second line");
  expect(lastLineOf("one\r\ntwo\rthree")).toBe("three");
  expect(lastLineOf("```\n\n")).toBeNull();
  expect(lastLineOf("")).toBeNull();
  expect(lastLineOf("done\n✓")).toBe("✓");
});

test("[API-52] nothing in it acts: no escape sequences, control characters or changes of direction, and not too long", () => {
  expect(lastLineOf("\x1b[31mred\x1b[0m \x1b]52;c;aGk=\x07and\x00 \x9bplain\x7f")).toBe("red and plain");
  expect(lastLineOf("user\u202Etxt.exe\u2066 \u200Fend")).toBe("usertxt.exe end");
  const long = lastLineOf("😀".repeat(300))!;
  expect(Array.from(long)).toHaveLength(200);
  expect(long.endsWith("😀…")).toBe(true);
  expect(lastLineOf("a\ud800b")).toBe("a\ufffdb");
});

test("[CLI-6] order is natural", () => {
  expect(["x-10", "x-2", "x-1", "x-2-2", "a-3"].toSorted(compareNaturally)).toEqual([
    "a-3",
    "x-1",
    "x-2",
    "x-2-2",
    "x-10",
  ]);
});
