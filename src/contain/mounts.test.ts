import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { baseMounts, expandPaths } from "./mounts.ts";

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hf-mounts-"));
});

afterEach(() => rmSync(home, { recursive: true }));

function put(name: string): string {
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "x", { mode: 0o755 });
  return path;
}

/** Paths below the home that are shown, in order; the tmpfs over it and over others included. */
function shown(over: { path?: string; command?: string[]; read?: string[]; hidden?: string[] }): string[] {
  const view = { home, homes: [home], hidden: [], path: "", command: [], read: [], ...over };
  const args = baseMounts(view);
  return args.flatMap((arg, at) => {
    if (arg === "--tmpfs" && args[at + 1]!.startsWith(home)) return [`empty ${args[at + 1]!.slice(home.length)}`];
    return arg === "--ro-bind" && args[at + 2]!.startsWith(home) ? [args[at + 2]!.slice(home.length)] : [];
  });
}

test("[CONTAIN-14] a bin on PATH brings in what programs need beside it, but no private folder", () => {
  for (const name of [".local/bin/tool", ".config/bin/x", "tools/bin/y", "app/node_modules/.bin/z", ".ssh/key"])
    put(name);
  const path = [".local/bin", ".config/bin", "tools/bin", "app/node_modules/.bin", "bin-that-is-not-there"]
    .map((name) => join(home, name))
    .join(":");
  expect(shown({ path })).toEqual(["empty ", "/.local/bin", "/.config/bin", "/tools", "/app/node_modules"]);
  // The home itself, or what is around it, is never shown for the sake of a program.
  expect(shown({ path: `${home}:${dirname(home)}` })).toEqual(["empty ", "/.local/bin"]);
});

test("[CONTAIN-14] the agent's program is followed through its link, and files that its command names are shown", () => {
  const real = put("lib/node_modules/agent/cli.js");
  mkdirSync(join(home, ".local/bin"), { recursive: true });
  symlinkSync(real, join(home, ".local/bin/agent"));
  const script = put("scripts/run.js");
  const secret = put("hf/builds/demo.cjs");
  const path = join(home, ".local/bin");
  expect(shown({ path, command: ["agent", script, secret, "a word"], hidden: [join(home, "hf")] })).toEqual([
    "empty ",
    "/.local/bin",
    "/.local/bin/agent",
    "/lib/node_modules",
    "/scripts/run.js",
    "/scripts",
    "/hf/builds/demo.cjs",
  ]);
});

test("[CONTAIN-1] Holdfast's own folders stay hidden where what is around them was asked for", () => {
  put("data/hf/token");
  const data = join(home, "data");
  expect(shown({ read: [data], hidden: [join(data, "hf")] })).toEqual(["empty ", "/data", "empty /data/hf"]);
});

test("[CONTAIN-9] package caches are named, and ~ is the agent's home", () => {
  expect(expandPaths(["npm", "go", "~/x", "/abs"], "/home/me")).toEqual([
    "/home/me/.npm",
    "/home/me/go/pkg/mod",
    "/home/me/.cache/go-build",
    "/home/me/x",
    "/abs",
  ]);
});
