import { expect, test } from "vitest";
import { parseDiffering } from "./changes.ts";
import { rankFiles } from "./files.ts";
import { limitPatch } from "./patch.ts";

test("[API-43] git's list of differences is read with renames, binaries and names of any kind", () => {
  const raw = (letter: string, ...paths: string[]): string => `:100644 100644 abc def ${letter}\0${paths.join("\0")}\0`;
  const text = [
    raw("M", "a b.txt"),
    raw("R087", "old\tname", "new\nname"),
    raw("A", ":odd"),
    raw("D", "gone.bin"),
    "3\t1\ta b.txt\0",
    "1\t0\t\0old\tname\0new\nname\0",
    "2\t0\t:odd\0",
    "-\t-\tgone.bin\0",
  ].join("");
  expect(parseDiffering(text).map(Object.values)).toEqual([
    ["a b.txt", null, "M", 3, 1, false],
    ["new\nname", "old\tname", "R", 1, 0, false],
    [":odd", null, "A", 2, 0, false],
    ["gone.bin", null, "D", 0, 0, true],
  ]);
  expect(parseDiffering("")).toEqual([]);
});

const header = (name: string): string => `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n`;

test("[API-45] a patch that is cut still counts its lines rightly, file by file", () => {
  const small = `${header("s")}@@ -1 +1 @@\n-a\n+b\n`;
  const large = `${header("l")}@@ -1,2 +1,2 @@ first\n a\n-b\n+c\n@@ -9,3 +9,4 @@ second\n x\n-y\n+z\n+more\n+and more\n`;
  expect(limitPatch(small + large, false, 10_000)).toEqual({ patch: small + large, truncated: false });
  const limit = large.length - 5;
  expect(limitPatch(large + small, false, limit)).toEqual({
    patch: `${header("l")}@@ -1,2 +1,2 @@ first\n a\n-b\n+c\n@@ -9,2 +9,3 @@\n x\n-y\n+z\n+more\n${small}`,
    truncated: true,
  });
  // Ended in the middle of the last file, before its first line.
  expect(limitPatch(small + header("l").slice(0, -4), true, 10_000)).toEqual({ patch: small, truncated: true });
  expect(limitPatch(`${small}${header("l")}@@ -1,2 +1,2 @@\n`, true, 10_000)).toEqual({
    patch: small + header("l"),
    truncated: true,
  });
});

test("[API-46] files are ranked by how well they fit the letters", () => {
  const files = [
    "src/deep/er/xview.ts",
    "src/view/main.ts",
    "src/view.ts",
    "docs/verify-it-even-when.md",
    "View.tsx",
    "v/i/e/w",
    "other.ts",
  ];
  expect(rankFiles(files, "view")).toEqual([
    "View.tsx",
    "src/view.ts",
    "src/deep/er/xview.ts",
    "src/view/main.ts",
    "docs/verify-it-even-when.md",
    "v/i/e/w",
  ]);
  expect(rankFiles(files, "src/view")).toEqual(["src/view.ts", "src/view/main.ts", "src/deep/er/xview.ts"]);
  expect(rankFiles(files, "")[0]).toBe("View.tsx");
  expect(rankFiles(files, "zzz")).toEqual([]);
});
