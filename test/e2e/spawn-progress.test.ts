import { spawn } from "@lydell/node-pty";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

const cli = join(import.meta.dirname, "../../bin/holdfast");

interface AtTerminal {
  /** What stderr showed. */
  screen: () => string;
  stdout: () => string;
  type: (keys: string) => void;
  ended: Promise<{ exitCode: number; signal?: number | undefined }>;
}

/** Runs the CLI with a terminal for its stderr, and its stdout in a file. */
function atTerminal(home: ProjectHome, args: string[]): AtTerminal {
  const out = join(home.directory, "stdout");
  const script = 'out=$1; shift; exec "$@" >"$out"';
  const options = { cols: 200, rows: 50, cwd: home.directory, env: { ...home.env, TERM: "xterm" } };
  const terminal = spawn("sh", ["-c", script, "sh", out, cli, ...args], options);
  let screen = "";
  terminal.onData((text) => void (screen += text));
  return {
    screen: () => screen.replaceAll("\r\n", "\n"),
    stdout: () => readFileSync(out, "utf8"),
    type: (keys) => terminal.write(keys),
    ended: new Promise((resume) => terminal.onExit(resume)),
  };
}

const worktree = (home: ProjectHome, id: string): string => join(home.home, "worktrees", "my-app", id);
const args = ["spawn", "my-app", "--agent", "demo", "--kind", "terminal"];

test("[CLI-24] a long spawn shows its steps on a terminal, but not in stdout or without a terminal; so does a restore", async () => {
  await using home = await ProjectHome.gated();
  // Started first: once the other one prints something, this one has waited as long.
  const piped = home.cli([...args, "--json"]);
  await until("the first worktree", () => existsSync(worktree(home, "ma-1")));
  const spawning = atTerminal(home, args);
  await until("postCreate's output", () => spawning.screen().includes("\n  first words\n"));
  // On a busy machine its checks take long enough to be shown.
  expect(spawning.screen()).toMatch(
    /^(Checking tools and repository\n)?ma-2: creating the worktree\nma-2: running postCreate\n {2}\$ echo first words\n {2}first words\n/,
  );
  expect(spawning.stdout()).toBe("");
  for (const id of ["ma-1", "ma-2"]) writeFileSync(join(worktree(home, id), "go"), "");
  expect((await spawning.ended).exitCode).toBe(0);
  const lines = spawning.stdout().trimEnd().split("\n");
  expect([lines[0], lines.at(-1)]).toEqual(["Session ma-2 is running (demo, my-app).", "SESSION=ma-2"]);
  const { code, stdout, stderr } = await piped;
  expect([code, (JSON.parse(stdout) as { id: string }).id, stderr]).toEqual([0, "ma-1", ""]);

  await home.ok(["session", "stop", "ma-1"]);
  home.arm("launch.recorded", "pause");
  const restoring = atTerminal(home, ["session", "restore", "ma-1"]);
  await until("the agent's start", () => restoring.screen() === "ma-1: restoring\nma-1: starting demo\n");
  home.disarm("launch.recorded");
  expect((await restoring.ended).exitCode).toBe(0);
  expect(restoring.stdout()).toMatch(/^Session ma-1 restored\.\n/);
});

test("[CLI-38] Ctrl-C reports that the spawn continues and how to inspect or stop it, and it does continue", async () => {
  await using home = await ProjectHome.gated();
  const spawning = atTerminal(home, args);
  await until("the wait", () => spawning.screen().includes("\n  first words\n"));
  spawning.type("\u0003");
  expect((await spawning.ended).signal).toBe(2);
  expect(spawning.screen()).toContain("\nStopped waiting. ma-1 is still being created.\n");
  expect(spawning.screen()).toContain("\n  Kill:  holdfast session kill ma-1\n");
  expect(spawning.stdout()).toBe("");
  expect((await home.show("ma-1")).status).toBe("starting");
  writeFileSync(join(worktree(home, "ma-1"), "go"), "");
  await home.status("ma-1", "idle");
});
