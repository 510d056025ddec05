import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

const floodBytes = 10 * 1024 * 1024;
const points = ["truncate.noted", "truncate.cut", "truncate.settled"];

test("[CHAT-142] without hole punching, a daemon that dies at any step of the truncation loses and doubles nothing", async () => {
  await using home = new ChatHome();
  const programs = join(home.directory, "programs");
  mkdirSync(programs);
  writeFileSync(join(programs, "fallocate"), "#!/bin/sh\nexit 1\n");
  chmodSync(join(programs, "fallocate"), 0o700);
  home.env["PATH"] = `${programs}:${home.env["PATH"]}`;
  await home.begin({ floods: { program: "floods", env: { FLOODS_MB: "10", FLOODS_MB_PER_S: "50" } } });
  const id = await home.chat(undefined, "floods");
  const agent = await home.agent(id);
  const out = join(home.launchDirectory(id), "out");
  const paused = join(home.launchDirectory(id), "paused");
  for (const [at, point] of points.entries()) {
    const { pid } = home.daemon();
    home.arm(point, "kill");
    // The daemon may die before it responds.
    const sent = home.send(id, "go").catch(() => null);
    await home.reached(point);
    await sent;
    await until("the daemon to be gone", () => !isRunning(pid));
    home.disarm(point);
    await home.ok(["start"]);
    expect(home.daemon().pid, `the daemon died at ${point}`).not.toBe(pid);
    const turn = (await home.ended(id, at + 1)).at(-1)!;
    expect(turn.stopReason, point).toBe("end_turn");
    expect(turn.text.length, point).toBeGreaterThan(floodBytes * 0.95);
    // The agent continues as the last step of a truncation: only then the next point is armed.
    await until("the cut to be over", () => statSync(out).size < floodBytes / 2 && !existsSync(paused));
  }
  const lengths = (await home.turns(id)).map(({ text }) => text.length);
  expect(new Set(lengths).size).toBe(1);
  expect(await home.ofType(id, "output.damaged")).toEqual([]);
  expect(await home.agent(id)).toEqual(agent);
});
