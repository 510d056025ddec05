import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { AcpWorld } from "../../test/agents/acp-world.ts";
import { isRunning } from "../../test/harness/marked.ts";
import { asPromptId } from "../contract/ids.ts";

const daemon = join(import.meta.dirname, "../../test/agents/acp-daemon.ts");
const agents = 4;
const prompts = 8;
const tickMs = 2;
/** Counted from when it reads; some die at their first system call, some see the end of a turn. */
const longestLifeMs = 120;
/** A turn is longer than a life: else a few lucky ones would do for all of them. */
const ticks = 1 + longestLifeMs / tickMs;
/** On a busy machine a life that short achieves next to nothing: the one after these is left to finish. */
const mostKills = 12;

test("[CHAT-74, CHAT-75] a daemon killed at any moment under streaming agents: nothing lost, nothing doubled, no agent replaced", async () => {
  await using world = new AcpWorld();
  const ids = await Promise.all(Array.from({ length: agents }, () => world.up("demo")));
  const pids = ids
    .map((id) => world.state(id).run)
    .flatMap((run) => (run.run === "up" && run.agent !== null ? [run.agent.pid] : []));
  for (const id of ids) {
    for (let n = 0; n < prompts; n++) {
      const promptId = asPromptId(`${id}-${n}`);
      await world.record(id, {
        type: "prompt.admitted",
        promptId,
        text: `say: begin ${n}.\nslow: ${ticks} x ${tickMs}ms\nsay: end ${n}.`,
        by: "person",
      });
    }
  }
  world.die();
  let kills = 0;
  for (let done = false; !done; kills++) {
    const child = spawn(process.execPath, [daemon, world.directory], { stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(child, "exit");
    await Promise.race([exited, once(child.stdout, "data")]);
    if (kills < mostKills) {
      await Promise.race([exited, delay(Math.random() * longestLifeMs)]);
      child.kill("SIGKILL");
    }
    const [code] = (await exited) as [number | null];
    done = code === 0;
  }
  world.start();
  expect(kills).toBeGreaterThan(5);
  for (const id of ids) {
    expect(world.ends(id)).toEqual(Array.from({ length: prompts }, () => "end_turn"));
    const words = world.text(id).match(/begin \d+|end \d+/g);
    expect(words).toEqual(Array.from({ length: prompts }, (_, n) => [`begin ${n}`, `end ${n}`]).flat());
    expect(world.events(id).filter((event) => event.type === "output.damaged")).toEqual([]);
  }
  expect(pids.every(isRunning)).toBe(true);
}, 180_000);
