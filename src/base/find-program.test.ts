import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findLaunchable, findProgram } from "./find-program.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-find-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("[BASE-10] a program is the first file of its name on PATH that can be run, or an absolute path that can", () => {
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

test("[BASE-11] a script can be launched where the program that its first line names is there too", () => {
  const path = [root, "/usr/bin", "/bin"].join(delimiter);
  const script = (name: string, first: string): string => {
    const file = join(root, name);
    writeFileSync(file, `${first}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  for (const first of ["#!/bin/sh", "#! /bin/sh -e", "#!/usr/bin/env sh", "#!/usr/bin/env -S A=1 sh -e", "\u007fELF"]) {
    const file = script("tool", first);
    expect(findLaunchable("tool", path)).toMatchObject({ is: "found", path: file });
  }
  for (const [first, program] of [
    ["#!/nonexistent/node", "/nonexistent/node"],
    ["#!/usr/bin/env -S nonexistent-node --x", "nonexistent-node"],
  ] as const) {
    const neededBy = script("tool", first);
    expect(findLaunchable("tool", path)).toEqual({ is: "missing", program, neededBy });
  }
  expect(findLaunchable("other", path)).toEqual({ is: "missing", program: "other", neededBy: null });
  const runner = join(root, "runners");
  mkdirSync(runner);
  script("runners/its-node", "#!/bin/sh");
  const file = script("tool", "#!/usr/bin/env its-node");
  expect(findLaunchable("tool", [path, runner].join(delimiter))).toEqual({
    is: "found",
    path: file,
    directories: [root, runner],
  });
});
