import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { builtInAgents } from "../agents/registry.ts";
import { ownState } from "./own-state.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "hf-own-"));
});

afterEach(() => rmSync(root, { recursive: true }));

function put(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
}

const state = (agent: string, env: Record<string, string> = {}) =>
  ownState(builtInAgents.find(({ id }) => id === agent)?.ownFolders ?? [], join(root, "own"), {
    HOME: join(root, "home"),
    ...env,
  });

test("[CONTAIN-3] settings are copied once, credentials are the real file, and conversations of others stay out", () => {
  put("home/.claude/settings.json", "mine");
  put("home/.claude.json", "state");
  put("home/.claude/projects/other.jsonl", "secret");
  put("home/.claude/.credentials.json", "token");
  const real = join(root, "home/.claude");
  expect(state("claude")).toEqual({
    mounts: [
      { from: join(root, "own/.claude"), to: real },
      { from: join(real, ".credentials.json"), to: join(real, ".credentials.json") },
    ],
    env: { CLAUDE_CONFIG_DIR: real },
  });
  expect(readFileSync(join(root, "own/.claude/settings.json"), "utf8")).toBe("mine");
  expect(readFileSync(join(root, "own/.claude/.claude.json"), "utf8")).toBe("state");
  expect(existsSync(join(root, "own/.claude/projects"))).toBe(false);
  put("own/.claude/settings.json", "the agent's");
  state("claude");
  expect(readFileSync(join(root, "own/.claude/settings.json"), "utf8")).toBe("the agent's");
  expect(readFileSync(join(real, "settings.json"), "utf8")).toBe("mine");
});

test("[CONTAIN-3] a link that the agent left where credentials go is removed before anything is mounted there", () => {
  put("home/.codex/config.toml", "a");
  state("codex");
  symlinkSync(join(root, "home/planted"), join(root, "own/.codex/auth.json"));
  put("home/.codex/auth.json", "token");
  expect(state("codex").mounts).toHaveLength(2);
  expect(existsSync(join(root, "own/.codex/auth.json"))).toBe(false);
  expect(existsSync(join(root, "home/planted"))).toBe(false);
});

test("[CONTAIN-3] an agent's own variables say where its folders are; one that we do not know gets none", () => {
  put("conf/opencode/opencode.json", "{}");
  const { mounts } = state("opencode", { XDG_CONFIG_HOME: join(root, "conf") });
  expect(mounts.map(({ to }) => to.slice(root.length))).toEqual([
    "/home/.local/share/opencode",
    "/home/.local/state/opencode",
    "/home/.cache/opencode",
    "/conf/opencode",
  ]);
  expect(existsSync(join(root, "own/.config/opencode/opencode.json"))).toBe(true);
  expect(state("my-own-agent")).toEqual({ mounts: [], env: {} });
});
