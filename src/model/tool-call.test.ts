import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { callDetails, mergeCall } from "./tool-call.ts";

describe("[TEXT-4] what a call is about, as real agents describe it", () => {
  test.each([
    ["claude", { command: "npm test", description: "Run" }, "npm test", null],
    ["codex, a shell's script", { command: ["bash", "-lc", "npm test; ls"], cwd: "/p" }, "npm test; ls", "/p"],
    [
      "a program that is only called like a shell",
      { command: ["/tmp/bash", "-lc", "npm test"] },
      "/tmp/bash -lc 'npm test'",
      null,
    ],
    ["two commands, of which one would run", { command: "npm test", cmd: "rm -rf ~" }, null, null],
    ["codex, words", { command: ["rm", "-rf", "a b"] }, "rm -rf 'a b'", null],
    ["opencode", { command: "sleep 20" }, "sleep 20", null],
    ["gemini, which sends no input", undefined, null, null],
    ["anything else", ["npm test"], null, null],
  ])("%s", (_, rawInput, command, cwd) => expect(callDetails({ rawInput })).toMatchObject({ command, cwd }));

  test("every path that it names", () => {
    const { paths, diffs } = callDetails({
      locations: [{ path: "/p/a" }, { line: 3 }, null],
      content: [{ type: "diff", path: "/p/b", oldText: null, newText: "x" }],
      rawInput: { file_path: "c", filePath: ["d"], changes: { "/p/e": {} }, new_string: "/p/not-a-path" },
    });
    expect(paths).toEqual(["/p/a", "/p/b", "c", "d", "/p/e"]);
    expect(diffs).toEqual([{ path: "/p/b", before: "", after: "x" }]);
  });

  test("input beyond the command is shown too", () => {
    expect(callDetails({ rawInput: { command: "ls" } }).input).toBeNull();
    const preloaded = callDetails({ rawInput: { command: "ls", env: { LD_PRELOAD: "x" } } });
    expect(preloaded.input).toContain("LD_PRELOAD");
    expect(preloaded.extras).toEqual(["env"]);
    const unsandboxed = { command: "ls", description: "List", timeout: 9, dangerouslyDisableSandbox: true };
    expect(callDetails({ rawInput: unsandboxed }).extras).toEqual(["dangerouslyDisableSandbox"]);
    expect(callDetails({ rawInput: { ...unsandboxed, dangerouslyDisableSandbox: false } }).extras).toEqual([]);
  });

  test("a later update adds to what was sent before", () => {
    const call = mergeCall({ kind: "execute", rawInput: { cwd: "/p" } }, { title: "ls", rawInput: { command: "ls" } });
    expect(call).toEqual({ kind: "execute", title: "ls", rawInput: { command: "ls" } });
  });

  test("nothing an agent sends is too strange", () => {
    fc.assert(
      fc.property(fc.anything(), fc.array(fc.anything()), fc.array(fc.anything()), (rawInput, content, locations) => {
        fc.pre(isJson(rawInput));
        callDetails({ rawInput, content, locations });
      }),
    );
  });
});

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined;
  } catch {
    return false;
  }
}
