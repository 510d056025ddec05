/** How contained agents end: asked first, with a status that is theirs, and then all of it. And what they leave. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ContainedAcpWorld, ContainedTmuxWorld } from "../../test/agents/contained-world.ts";
import { until } from "../../test/harness/until.ts";
import { hookScriptFile } from "../agents/hook-script.ts";
import { firstWithin, innerPid, pidNamespace } from "../base/pid-namespace.ts";
import { isAlive, listProcesses } from "../base/pid.ts";
import { known, look } from "../ports/runtime-contract.fixture.ts";

/** Says so once it is ready, and leaves a tree that hides from every other way of finding it. */
const nasty = String.raw`
(setsid sh -c 'trap "" TERM HUP; env -i sleep 1000 & env -i sh -c "trap \"\" TERM HUP; while :; do sleep 1; done" & wait' &)
touch ready
`;
const polite = `trap 'exit 7' TERM; ${nasty} while :; do sleep 0.1; done`;
const stubborn = `trap '' TERM HUP; ${nasty} while :; do sleep 0.1; done`;
const quickly = { force: false, deadlineMs: 1500 };

/** All that shares the namespace of this process. */
function inside(namespace: string | null): number[] {
  return listProcesses().flatMap(({ pid }) => (pidNamespace(pid) === namespace ? [pid] : []));
}

async function started(world: ContainedTmuxWorld, script: string) {
  const runtime = world.open();
  const planned = world.sessionOf({ start: ["sh", "-c", script] });
  const up = await world.up(runtime, planned);
  await until("the agent to be ready", () => existsSync(join(world.workspace, "ready")));
  const first = firstWithin(up.result.agent.pid)!;
  expect(innerPid(first.pid)).toBe(1);
  const namespace = pidNamespace(first.pid);
  await until("its tree to stand", () => inside(namespace).length > 4);
  return { runtime, session: up.session, outer: up.result.agent, first, namespace };
}

test("[CONTAIN-7] an agent that is asked to end gives its own status, and what ignores that ends with the namespace", async () => {
  await using world = new ContainedTmuxWorld();
  const { runtime, session, namespace } = await started(world, polite);
  const stopped = await runtime.stop(session, quickly);
  expect(stopped).toMatchObject({ remaining: [], exit: { code: 7, signal: null } });
  expect(inside(namespace)).toEqual([]);
});

test("[CONTAIN-7] one that does not end is killed with everything, by the next daemon too", async () => {
  await using world = new ContainedTmuxWorld();
  const { runtime, session, namespace } = await started(world, stubborn);
  await runtime.close();
  const stopped = await world.open().stop(session, quickly);
  expect(stopped.remaining).toEqual([]);
  expect(stopped.exit).toEqual({ code: 137, signal: null });
  expect(inside(namespace)).toEqual([]);
});

test("[CONTAIN-7] an agent whose outer process was killed is dead, and what lives on inside is found and ended", async () => {
  await using world = new ContainedTmuxWorld();
  const { runtime, session, outer, first, namespace } = await started(world, stubborn);
  process.kill(outer.pid, "SIGKILL");
  await until("the outer process to be gone", () => !isAlive(outer));
  expect(isAlive(first)).toBe(true);
  const seen = await until("it to be seen dead", async () => {
    const { seen: now } = await look(runtime, session);
    return now.is === "known" && !now.value.agent.alive ? now.value : null;
  });
  expect(seen.processes.length).toBeGreaterThan(4);
  expect((await runtime.stop(session, quickly)).remaining).toEqual([]);
  expect(inside(namespace)).toEqual([]);
});

test("[CONTAIN-7] a chat's agent ends with all that it started, and its keeper writes its status down", async () => {
  await using world = new ContainedAcpWorld();
  const planned = world.session("setsids-away");
  const runtime = world.open();
  const launch = await runtime.launch({
    session: planned,
    launch: "l-1" as never,
    how: "fresh",
    prompt: null,
    env: {},
  });
  if (!launch.launched) throw new Error(launch.reason);
  const session = { ...planned, run: { run: "up" as const, launch: "l-1" as never, at: 0, agent: launch.agent } };
  const first = firstWithin(known(await look(runtime, session)).processes[0]!.identity.pid)!;
  const namespace = pidNamespace(first.pid);
  const stopped = await runtime.stop(session, { force: true, deadlineMs: 1500 });
  expect(stopped.remaining).toEqual([]);
  expect(stopped.exit).not.toBeNull();
  expect(inside(namespace)).toEqual([]);
});

test("[CONTAIN-1] hooks of a contained agent report, and nothing writes through a link planted next to them", async () => {
  await using world = new ContainedTmuxWorld();
  const victim = join(world.directory, "victim");
  writeFileSync(victim, "mine");
  const script = `ln -s ${victim} "$HOLDFAST_HOOKS/ending"; echo '{"n":1}' | "$HOLDFAST_HOOKS/hook.sh" Stop; touch ready; exec cat`;
  const runtime = world.open();
  const hooked = { files: [hookScriptFile], env: { HOLDFAST_HOOKS: "{hooks}" } };
  const planned = world.sessionOf({ start: ["sh", "-c", script], ...hooked });
  const { session, request } = await world.up(runtime, planned);
  await until("the agent to be ready", () => existsSync(join(world.workspace, "ready")));
  const lines = readFileSync(join(world.directory, "launches", session.id, request.launch, "hooks.jsonl"), "utf8");
  expect(lines).toMatch(/^\{"event":"Stop".*"data":\{"n":1\}/);
  expect((await runtime.stop(session, quickly)).remaining).toEqual([]);
  expect(readFileSync(victim, "utf8")).toBe("mine");
});
