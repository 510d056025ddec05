/**
 * What every runtime must do, as cases that its own process tests run: `for (const one of runtimeContract) test(…)`.
 * Free of any test library, so that it may live beside the runtimes.
 */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { isAlive } from "../base/pid.ts";
import type { LaunchRequest, Observation, Runtime, RuntimeSeen } from "./runtime.ts";
import { asLaunchId, type ProcessIdentity } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";

/** How the agent of a contract session behaves. */
export type Behaviour = "waits" | "forks-a-child" | "ignores-sigterm" | "setsids-away" | "exits-at-once";

export interface RuntimeWorld {
  /** A runtime as a daemon that starts now would open it; the world closes it. */
  open(): Runtime;
  /** A session whose agent behaves so, ready to be launched. */
  session(behaviour: Behaviour): SessionState;
  /** Everything alive that this session started, however it hides. */
  processes(session: SessionState): number[];
}

export interface ContractCase {
  title: string;
  run(world: RuntimeWorld): Promise<void>;
}

/** Agents that ignore polite signals must be gone within this. */
const stopLimitMs = 10_000;
/** Shorter than a daemon's, so that the polite part does not take seconds in every test. */
const stopping = { force: false, deadlineMs: 1500 };

export const runtimeContract: ContractCase[] = [
  {
    title: "a launched agent is seen alive, with its launch id and the identity that launch returned",
    async run(world) {
      const runtime = world.open();
      const { session, request, agent } = await launched(world, runtime, "waits");
      const seen = known(await look(runtime, session));
      assert.equal(seen.launch, request.launch);
      assert.deepEqual(seen.agent, { alive: true, identity: agent });
      // A chat agent's keeper and feeder are listed beside it.
      assert.deepEqual(
        seen.processes.filter((one) => one.what === "agent").map((one) => one.identity),
        [agent],
      );
    },
  },
  {
    title: "the same launch asked for twice is one agent",
    async run(world) {
      const runtime = world.open();
      const { session, request, agent } = await launched(world, runtime, "waits");
      const again = await runtime.launch(request);
      assert.ok(again.launched);
      assert.deepEqual(again.agent, agent);
      assert.equal(world.processes(session).length, 1);
    },
  },
  {
    title: "an agent that ends at once is a failed launch with its last words, and nothing of it is left",
    async run(world) {
      const runtime = world.open();
      const session = world.session("exits-at-once");
      const result = await runtime.launch(requestFor(session));
      assert.ok(!result.launched);
      assert.deepEqual(result.exit, { code: 3, signal: null });
      assert.match(result.lastLines.join("\n"), /cannot start: no key is set/);
      assert.deepEqual(world.processes(session), []);
    },
  },
  {
    title: "a session that was never launched is absent",
    async run(world) {
      const { seen } = await look(world.open(), world.session("waits"));
      assert.equal(seen.is, "absent");
    },
  },
  {
    title: "closing the runtime ends no agent, and the next one finds it again",
    async run(world) {
      const first = world.open();
      const { session, agent } = await launched(world, first, "waits");
      await first.close();
      assert.ok(isAlive(agent));
      const seen = known(await look(world.open(), session));
      assert.deepEqual(seen.agent, { alive: true, identity: agent });
    },
  },
  ...(["forks-a-child", "ignores-sigterm", "setsids-away"] as const).map((behaviour): ContractCase => ({
    title: `stop ends the whole tree of an agent that ${behaviour.replaceAll("-", " ")}, and again of nothing`,
    async run(world) {
      const runtime = world.open();
      const { session } = await launched(world, runtime, behaviour);
      const startedAt = performance.now();
      const result = await runtime.stop(session, stopping);
      assert.deepEqual(result.remaining, []);
      assert.ok(performance.now() - startedAt < stopLimitMs);
      assert.deepEqual(world.processes(session), []);
      assert.equal((await look(runtime, session)).seen.is, "absent");
      assert.deepEqual((await runtime.stop(session, stopping)).remaining, []);
    },
  })),
];

/** A session as the store would hand it over, for tests of runtimes. */
export function sampleSession(
  over: Partial<SessionState> & Pick<SessionState, "id" | "project" | "agent">,
): SessionState {
  return {
    kind: "terminal",
    role: "worker",
    title: "",
    issue: null,
    branch: "main",
    branchCreated: false,
    base: "main",
    workspacePath: "/",
    workspace: { at: "ready" },
    intent: { want: "running", by: "person", at: 0, seq: 1 },
    run: { run: "none" },
    turn: { turn: "none" },
    queue: [],
    permissions: [],
    picks: { config: {} },
    agentSessionId: null,
    conversationSince: null,
    prompted: false,
    crashes: [],
    resumeFailures: 0,
    pullRequest: null,
    createdAt: 0,
    lastActivityAt: 0,
    activity: null,
    seq: 1,
    ...over,
  };
}

export function requestFor(session: SessionState, over: Partial<LaunchRequest> = {}): LaunchRequest {
  return { session, launch: asLaunchId(randomUUID()), how: "fresh", prompt: null, env: {}, ...over };
}

/** The session as it stands in the store once its launch was recorded. */
export function upSession(
  session: SessionState,
  launch: LaunchRequest["launch"],
  agent: ProcessIdentity,
): SessionState {
  return { ...session, run: { run: "up", launch, at: Date.now(), agent } };
}

export async function look(runtime: Runtime, session: SessionState): Promise<Observation> {
  const observed = (await runtime.observe([session])).get(session.id);
  assert.ok(observed, "every session that is asked for is answered");
  return observed;
}

export function known(observation: Observation): RuntimeSeen {
  if (observation.seen.is !== "known") assert.fail(`expected known, got ${JSON.stringify(observation)}`);
  return observation.seen.value;
}

async function launched(
  world: RuntimeWorld,
  runtime: Runtime,
  behaviour: Behaviour,
): Promise<{ session: SessionState; request: LaunchRequest; agent: ProcessIdentity }> {
  const planned = world.session(behaviour);
  const request = requestFor(planned);
  const result = await runtime.launch(request);
  if (!result.launched) assert.fail(`launch failed: ${result.reason}\n${result.lastLines.join("\n")}`);
  return { session: upSession(planned, request.launch, result.agent), request, agent: result.agent };
}
