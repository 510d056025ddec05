import { execFileSync } from "node:child_process";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { quoteShellWord } from "./shell-quote.ts";

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
