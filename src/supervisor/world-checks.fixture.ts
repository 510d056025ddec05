/** What has to hold of a simulated world: at every step, and when it has come to rest. */
import { downReason } from "../model/runs.ts";
import type { Sim } from "./world-record.fixture.ts";
import type { World } from "./world.fixture.ts";

export type AgentDoes = "exits" | "crashes" | "vanishes" | "asks" | "goes on" | "answers" | "digs in";

export function agentDoes(world: World, sim: Sim, does: AgentDoes): void {
  const process = sim.processes.find(({ alive }) => alive);
  if (process === undefined) return;
  switch (does) {
    case "exits":
      return void Object.assign(process, { alive: false, exit: { code: 0, signal: null } });
    case "crashes":
      return void Object.assign(process, { alive: false, exit: { code: 0, signal: "SIGSEGV" } });
    case "vanishes":
      sim.processes = [];
      return;
    case "asks":
      process.asking = true;
      return;
    case "goes on":
      process.asking = false;
      return;
    case "digs in":
      process.stubborn = 2;
      return;
    case "answers":
      return world.commit(sim, ({ turn }) =>
        turn.turn === "open" ? [{ type: "turn.ended", stopReason: "end_turn" }] : [],
      );
    default:
      does satisfies never;
  }
}

/** Everything can be seen again, agents answer, and the daemon works until there is nothing left to do. */
export function settle(world: World): void {
  for (const sim of world.sims) Object.assign(sim, { sight: "clear" });
  for (let round = 0; round < 300; round++) {
    let acted = false;
    const waits: number[] = [];
    for (const sim of world.sims) {
      agentDoes(world, sim, "goes on");
      agentDoes(world, sim, "answers");
      const turn = world.turn(sim);
      let result = turn.next();
      while (result.done !== true) result = turn.next();
      if (result.value === "acted") acted = true;
      else if (result.value !== "quiet" && sim.state.intent.want !== "snoozed") waits.push(result.value.until);
    }
    if (!acted && waits.length === 0) return;
    if (!acted) world.now = Math.max(world.now, Math.min(...waits));
  }
  throw new Error("it does not come to rest");
}

export function checkAlways(sim: Sim): void {
  const { id, intent } = sim.state;
  if (intent.want !== sim.wanted.want)
    throw new Error(`${id}: ${sim.wanted.want} was asked for, and it is ${intent.want}`);
  if (sim.over && intent.want !== "killed" && intent.want !== "deleted") throw new Error(`${id}: a kill was undone`);
  const discards = sim.events.some(
    (event) => event.type === "session.intent" && event.want.want === "running" && event.want.convert?.fresh === true,
  );
  if (sim.discarded !== null && !discards) throw new Error(`${id}: a conversation was discarded unasked`);
  if (sim.processes.filter(({ alive }) => alive).length > 1) throw new Error(`${id}: two agents`);
  if (sim.worked && sim.disk.path !== "whole" && !sim.disk.trash) throw new Error(`${id}: worktree lost`);
  for (const [prompt, times] of sim.typed) if (times > 1) throw new Error(`${id}: ${prompt} sent ${times} times`);
}

/** What is wrong with a session that has come to rest, or null. */
export function faultAtRest(sim: Sim): string | null {
  const { state } = sim;
  const { want } = state.intent;
  const living = sim.processes.filter(({ alive }) => alive);
  const converting = sim.wanted.want === "running" ? sim.wanted.convert : undefined;
  if (converting !== undefined && state.kind !== converting.kind) return `${state.id}: it was not converted`;
  if (want === "running" && state.intent.want === "running" && state.intent.convert !== undefined)
    return `${state.id}: it is still being converted`;
  if (sim.making) return `${state.id}: ${want}, and its worktree is still being made`;
  if (want !== "running" && sim.processes.length > 0) return `${state.id}: ${want}, and something is left`;
  if (
    (want === "killed" || want === "deleted") &&
    (state.workspace.at === "ready" || state.workspace.at === "planned")
  ) {
    return `${state.id}: ${want}, and its worktree was not cleared away`;
  }
  const resting = downReason(state, true) !== null || state.workspace.at === "gone";
  if (want === "running" && !resting) {
    if (living.length !== 1 || state.run.run !== "up") return `${state.id}: wanted running, and is not`;
    if (state.queue.length > 0) return `${state.id}: a prompt was left waiting`;
    if (living[0]!.kind !== state.kind) return `${state.id}: the agent is of the other kind`;
    if (living[0]!.launch !== state.run.launch) return `${state.id}: not the launch on record`;
  } else if (living.length > 0) return `${state.id}: an agent runs that should not`;
  if (state.queue.some((prompt) => prompt.state === "sending")) return `${state.id}: a prompt was left half sent`;
  for (const event of sim.events) {
    if (event.type !== "prompt.admitted") continue;
    const count = (type: "prompt.sent" | "prompt.doubtful"): number =>
      sim.events.filter((other) => other.type === type && other.promptId === event.promptId).length;
    const receipts = count("prompt.sent");
    const waiting = state.queue.some((prompt) => prompt.promptId === event.promptId) ? 1 : 0;
    if (receipts + count("prompt.doubtful") + waiting !== 1)
      return `${state.id}: ${event.promptId} settled ${receipts} times`;
    if (receipts === 1 && sim.typed.get(event.promptId) !== 1) return `${state.id}: a false receipt`;
  }
  return null;
}
