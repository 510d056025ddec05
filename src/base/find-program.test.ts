import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findProgram } from "./find-program.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-find-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("[BASE-5] a program is the first file of its name on PATH that can be run, or an absolute path that can", () => {
  const [first, second, third] = ["a", "b", "c"].map((name) => join(root, name)) as [string, string, string];
  for (const directory of [first, second, third]) mkdirSync(directory);
  mkdirSync(join(first, "tool"));
  writeFileSync(join(second, "tool"), "not to be run", { mode: 0o644 });
  writeFileSync(join(third, "tool"), "#!/bin/sh\n");
  chmodSync(join(third, "tool"), 0o755);
  const path = ["", join(root, "none"), first, second, third].join(delimiter);
  expect(findProgram("tool", path)).toBe(join(third, "tool"));
  expect(findProgram("other", path)).toBeNull();
  expect(findProgram("tool", undefined)).toBeNull();
  expect(findProgram(join(third, "tool"), "")).toBe(join(third, "tool"));
  expect(findProgram(join(second, "tool"), path)).toBeNull();
});
