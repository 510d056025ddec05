import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { idsWithModel } from "../agents/registry.ts";
import { makeConfig, writeConfig } from "./init.ts";
import { parseConfig } from "./load.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-init-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("[CONFIG-16] a fresh file has the keys that matter and the line for editors", () => {
  const directory = join(root, "my-app");
  for (const name of ["objects", "refs"]) mkdirSync(join(directory, ".git", name), { recursive: true });
  writeFileSync(join(directory, ".git/HEAD"), "ref: refs/heads/on\n");
  writeFileSync(join(directory, ".env"), "");
  writeFileSync(join(directory, "uv.lock"), "");
  const schemaFile = join(directory, "node_modules/holdfast/schema/holdfast.schema.json");
  expect(makeConfig({ directory, agentsFound: ["codex", "claude"], schemaFile })).toBe(
    `# yaml-language-server: $schema=./node_modules/holdfast/schema/holdfast.schema.json
# How agents work on this repository. Every key is optional.

defaults:
  agent: codex                       # agent of new sessions: ${idsWithModel.join(", ")} or your own
  kind: terminal                     # terminal: the agent's own screen; chat: structured, in the dashboard
  # idleStopMinutes: 60              # stop sessions idle for this long; the next prompt restarts them

projects:
  my-app:
    path: .                          # relative to this file
    # prefix: ma                     # sessions are called ma-1, ma-2, ...
    defaultBranch: "on"              # base of new branches
    # symlinks: [node_modules]       # linked from here into each worktree
    # copy: [.env]                   # copied from here into each worktree
    # postCreate: ["uv sync"]        # run in each new worktree
`,
  );
});

test("[CONFIG-16] an id that another project has gets a number", () => {
  const text = makeConfig({ directory: "/nowhere/app", agentsFound: [], schemaFile: null, takenIds: ["app", "app-2"] });
  expect(text).toContain("\n  app-3:\n");
});

test("[CONFIG-17] nothing in the file is about this machine: not where Holdfast is installed, nor which agents are", () => {
  const make = (schemaFile: string, agentsFound: string[]) =>
    makeConfig({ directory: join(root, "app"), agentsFound, schemaFile });
  const text = make(join(root, "a b/s.json"), []);
  expect(text.split("\n")[0]).toBe("# How agents work on this repository. Every key is optional.");
  expect(text).toBe(make("/elsewhere/s.json", ["claude", "codex"]));
  expect(text).toContain("agent: claude                      # agent of new sessions: claude, codex, gemini");
});

test("[CONFIG-17] the comment names the prefix that the project gets", () => {
  const fresh = { directory: "/nowhere/my-app", agentsFound: [], schemaFile: null };
  expect(makeConfig({ ...fresh, takenPrefixes: ["ma", "ma2"] })).toContain("# prefix: ma3 ");
});

test("[CONFIG-16] its file is valid for any directory name, with comments or without", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ minLength: 1 }), async (name) => {
      const directory = join("/nowhere", name.replaceAll("\0", ""));
      const text = makeConfig({ directory, agentsFound: ["claude"], schemaFile: null });
      expect(await parseConfig("f", text)).toMatchObject({ ok: true });
      expect(await parseConfig("f", text.replace(/^( +)# /gm, "$1"))).toMatchObject({ ok: true });
    }),
    { numRuns: 50 },
  );
});

test("[CONFIG-16] an existing file is never overwritten", () => {
  const fresh = { directory: root, agentsFound: [], schemaFile: null };
  const file = join(root, "holdfast.yaml");
  expect(writeConfig(fresh)).toEqual({ file, written: true });
  writeFileSync(file, "mine");
  expect(writeConfig(fresh)).toEqual({ file, written: false });
  expect(readFileSync(file, "utf8")).toBe("mine");
});
