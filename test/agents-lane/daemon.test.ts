/** Real agents under the real daemon: they keep running without it, and resume their conversation after a reboot. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { endMarked, isRunning, markedProcesses, type Marked } from "../harness/marked.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";
import { digest } from "../model-server/script.ts";
import { startModelServer } from "../model-server/server.ts";
import { prepareRealAgent, realAgents, type RealAgent } from "./agents/agents.ts";

const startMs = 120_000;

async function lane(name: RealAgent) {
  const model = await startModelServer();
  const home = await ProjectHome.make();
  const folders = [home.repo, join(home.paths.worktrees, "my-app", "ma-1")];
  const env = prepareRealAgent(name, { home: join(home.directory, "agent"), modelUrl: model.url, folders });
  const lines = Object.entries(env).map(([key, value]) => `      ${key}: ${JSON.stringify(value)}`);
  writeFileSync(
    join(home.repo, "holdfast.yaml"),
    [
      "projects:",
      "  my-app:",
      "    path: .",
      "    prefix: ma",
      `    agent: ${name}`,
      "    kind: terminal",
      "    env:",
      ...lines,
      "",
    ].join("\n"),
  );
  // The daemon finds the agent's command where the lane installed it.
  home.env["PATH"] = env["PATH"]!;
  await home.ok(["stop"]);
  await home.ok(["start", "--port", "0"]);
  await home.ok(["project", "add", home.repo]);
  const status = (id: string, wanted: string): Promise<unknown> =>
    until(`${id} to be ${wanted}`, async () => (await home.show(id)).status === wanted, startMs);
  const screen = async (id: string): Promise<string> =>
    (
      await home.run("tmux", [
        "-u",
        "-L",
        home.paths.tmuxSocket,
        "capture-pane",
        "-p",
        "-J",
        "-S",
        "-200",
        "-t",
        `=worker-my-app-${id}:`,
      ])
    ).stdout;
  return {
    model,
    home,
    status,
    screen,
    [Symbol.asyncDispose]: async () => {
      await home[Symbol.asyncDispose]();
      await model.close();
    },
  };
}

test("[SESSION-12] claude keeps its pid in mid-turn across SIGKILL, stop and restart of the daemon, and the turn ends", async () => {
  await using world = await lane("claude");
  const { home, model, status, screen } = world;
  const { id } = await home.json(["spawn", "my-app", "--prompt", "say: begun\ngate: middle\nsay: finished"], {
    timeoutMs: startMs,
  });
  // The model's text, not the prompt.
  await until("the turn to be under way", async () => /(?<!say: )begun/.test(await screen(id)), startMs);
  const agent = await home.agent(id);
  await home.crash();
  expect(isRunning(agent.pid)).toBe(true);
  model.openGate("middle");
  await until("the turn to end without a daemon", async () => /(?<!say: )finished/.test(await screen(id)), startMs);
  await home.ok(["start"]);
  await status(id, "idle");
  await home.ok(["stop"]);
  await home.ok(["start"]);
  await home.ok(["restart"]);
  expect(await home.agent(id)).toEqual(agent);
  expect(await home.json(["send", id, "history?"], { timeoutMs: startMs })).toMatchObject({ disposition: "delivered" });
  await until("the history", async () => /history: turns=1 /.test(await screen(id)), startMs);
});

describe.each(realAgents("daemon"))("%s", (name) => {
  test("[SESSION-13] resumes its conversation after a reboot", async () => {
    await using world = await lane(name);
    const { home, model, status, screen } = world;
    // Held until it was observed working: some are idle for a moment before they accept their first prompt.
    const first = "say: before the reboot\ngate: seen";
    const { id } = await home.json(["spawn", "my-app", "--prompt", first], { timeoutMs: startMs });
    await status(id, "working");
    model.openGate("seen");
    await status(id, "idle");
    const before = await home.show(id);
    expect(before.agentSessionId).not.toBeNull();
    await home.ok(["stop"]);
    await home.run("tmux", ["-L", home.paths.tmuxSocket, "kill-server"]);
    // Like a machine that shuts down: gracefully, then by force.
    const left = (): Marked[] => markedProcesses(`HOLDFAST_HOME=${home.home}`);
    for (const one of left()) tryKill(one.pid);
    await until("all of it to end", () => left().length === 0, 5_000).catch(() => endMarked(left()));
    home.env["HOLDFAST_TEST_BOOT_ID"] = "another-boot";
    await home.ok(["start"], { timeoutMs: startMs });
    await status(id, "idle");
    expect((await home.show(id)).agentSessionId).toBe(before.agentSessionId);
    await home.json(["send", id, "history?"], { timeoutMs: startMs });
    const shown = await until(
      "the history",
      async () => {
        const text = await screen(id);
        const line = /history: turns=\d+ digest=\w{8}/.exec(text)?.[0];
        if (line === undefined) throw new Error(text);
        return line;
      },
      startMs,
    );
    expect(shown).toBe(`history: turns=1 digest=${digest([first])}`);
    await home.ok(["session", "kill", id]);
    expect((await home.show(id)).processes).toEqual([]);
  });
});

/** It may have exited with its terminal. */
function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
