import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { callPath, isInside } from "./permission-rules.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "hf-paths-")));
const real = join(root, "real");
const tree = join(root, "tree");
mkdirSync(join(real, "src"), { recursive: true });
symlinkSync(real, tree);
writeFileSync(join(real, "src/a.ts"), "");
symlinkSync("/etc", join(real, "src/etc"));
symlinkSync("/nowhere/at/all", join(real, "src/dangling"));
symlinkSync("loop", join(real, "loop"));
afterAll(() => rmSync(root, { recursive: true }));

describe("[PERMISSION-7] a path leads where the file system says", () => {
  test.each([
    ["src/a.ts", "src/a.ts", false],
    ["./src//a.ts", "src/a.ts", false],
    [join(tree, "src/a.ts"), "src/a.ts", false],
    [join(real, "src/new/deep.ts"), "src/new/deep.ts", false],
    [`file://${join(real, "src/a%2Ets")}`, "src/a.ts", false],
    ["", "", false],
    ["src/etc/passwd", "/etc/passwd", false],
    ["src/etc/new", "/etc/new", false],
    ["src/../../outside", join(root, "outside"), true],
    ["src/dangling", null, false],
    ["src/dangling/x", null, false],
    ["loop/x", null, false],
    ["src/a.ts/x", null, false],
    ["a\0b", null, false],
    ["/etc/passwd", "/etc/passwd", false],
  ])("%j", (path, resolved, climbs) => expect(callPath(tree, null, path)).toMatchObject({ resolved, climbs }));

  test("a relative path is below the call's directory", () =>
    expect(callPath(tree, "src", "a.ts")).toMatchObject({ resolved: "src/a.ts" }));

  test("what is written stays known beside where it leads", () =>
    expect(callPath(tree, null, "src/etc/passwd").written).toBe("src/etc/passwd"));

  test("a directory is inside or not", () =>
    expect([".", "src", tree, real, "/", "src/etc", "../x"].map((path) => isInside(tree, path))).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ]));
});
