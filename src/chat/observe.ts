/**
 * What is there of chat sessions, by the identity of agent and feeder. A killed keeper harms nothing. For an idle session
 * this is three looks into /proc; nothing is opened and nothing kept.
 */
import { existsSync } from "node:fs";
import {
  identify,
  isAlive,
  readStat,
  signalIdentity,
  startedAt,
  type Identity,
  type ProcessStat,
} from "../base/pid.ts";
import { findTree } from "../base/process-tree.ts";
import type { Observation, RuntimeSeen } from "../ports/runtime.ts";
import type { LaunchPlace } from "../ports/store.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { launchMarker } from "../contract/worker-record.ts";
import { isEnding } from "../base/ending.ts";
import { awaitExit, exists, firstsOf, identityOf, type Worker, carriesMarker, findWorker } from "./agent-process.ts";
import { flush } from "./client.ts";
import type { AcpContext } from "./context.ts";
import { containedNow, learn } from "./launch.ts";
import { catchUpWithSent } from "./adopt.ts";
import { clearAway } from "./stop.ts";
import { readExit, readPids } from "./agent-files.ts";

const deathLines = 20;
const gone: Observation = { seen: { is: "absent" }, cause: "identity-gone" };

export async function observeAll(
  context: AcpContext,
  sessions: readonly SessionState[],
): Promise<Map<SessionId, Observation>> {
  const unknown = sessions.filter((session) => followed(context, session) === null);
  // One query for a start with hundreds of them.
  const places =
    unknown.length < 10 ? null : new Map(context.store.launchPlaces().map((place) => [place.launch, place]));
  const found = new Map<SessionId, Observation>();
  for (const session of sessions) found.set(session.id, await observeOne(context, session, places));
  return found;
}

function followed(context: AcpContext, session: SessionState): Worker | null {
  const worker = context.inbox.get(session.id);
  const expected = session.run.run === "none" ? null : session.run.launch;
  return worker !== undefined && (expected === null || worker.launch === expected) ? worker : null;
}

async function observeOne(
  context: AcpContext,
  session: SessionState,
  places: ReadonlyMap<LaunchId, LaunchPlace> | null,
): Promise<Observation> {
  const known = followed(context, session);
  const found =
    known === null
      ? findWorker(context, session, places)
      : { worker: known, settled: true, place: null, unrecorded: false };
  if (found === null) return gone;
  const { worker } = found;
  // Not cleared away before it is on record: its output is still to be read.
  if (found.unrecorded && worker.record.bootId !== context.bootId) return dead(context, worker);
  if (worker.record.bootId !== context.bootId) {
    // Nothing of another boot lives: what its agent left is read and cleared away at once.
    await clearAway(context, session, worker);
    return { seen: { is: "absent" }, cause: "other-boot" };
  }
  if (worker.record.agent === null) {
    const started = await lookForAgent(context, worker);
    if (started !== "found")
      return started === "starting"
        ? { seen: { is: "unknown", why: "it is being started" }, cause: null }
        : dead(context, worker, isBare(worker));
  }
  const agent = identityOf(worker.record, worker.record.agent!);
  const stat = readStat(agent.pid);
  if (!lives(stat, agent)) {
    if (!existsSync(worker.directory)) return gone;
    // Else a crash would be told of without its signal.
    if (worker.record.keeper !== null) await awaitExit(worker);
    return dead(context, worker);
  }
  if (known === null && !found.unrecorded) {
    const { place } = found;
    if (place !== null && !(await catchUpWithSent(context, session, place))) {
      context.log.warn("the agent's input holds lines that this home did not write", { session: session.id });
    }
    attach(context, session, worker, found.settled);
  }
  if (stat.state === "T") wakeUnlessHeld(context, worker, agent);
  return { seen: { is: "known", value: seenAlive(context, worker, session, agent) }, cause: null };
}

/** Read on from the committed byte; complete what a crash cut off. No word is sent: the agent never died. */
function attach(context: AcpContext, session: SessionState, worker: Worker, settled: boolean): void {
  worker.turnOpen = session.turn.turn === "open";
  context.inbox.follow(worker);
  // An agent that answered the last line has read everything before it; only others are rung for again.
  if (!settled) void flush(context, worker);
}

/** A crash may have come between the start and the note of who was started. */
async function lookForAgent(context: AcpContext, worker: Worker): Promise<"found" | "starting" | "none"> {
  const pids = readPids(worker.directory);
  const named = (pid: number | null): { pid: number; startTime: string } | null => {
    const identity = pid === null || !carriesMarker(pid, worker.launch) ? null : identify(pid);
    return identity === null ? null : { pid: identity.pid, startTime: identity.startTime };
  };
  const agent = named(pids.agent);
  if (agent !== null) {
    const found = { agent, keeper: named(pids.keeper), feeder: named(pids.feeder) };
    await learn(context, worker, { ...found, ...containedNow(worker, agent.pid) });
    return "found";
  }
  if (worker.waiting > 0) return "starting";
  if (readExit(worker.directory) !== null) return "none";
  const marker = { name: launchMarker, values: [worker.launch] };
  const tree = await findTree({ roots: [], marker, ...firstsOf([worker.record]) });
  return tree.length > 0 ? "starting" : "none";
}

/** Its keeper writes down at once who it is, and how the agent ended. */
function isBare({ directory }: Worker): boolean {
  const { keeper, agent } = readPids(directory);
  return keeper === null && agent === null && readExit(directory) === null;
}

function dead(context: AcpContext, worker: Worker, neverStarted = false): Observation {
  const value: RuntimeSeen = {
    launch: worker.launch,
    agent: { alive: false, exit: readExit(worker.directory) },
    processes: [],
    activity: null,
    agentSessionId: null,
    lastLines: context.files.errorLines(worker.session, worker.launch, deathLines),
    build: worker.record.build,
    neverStarted,
  };
  return { seen: { is: "known", value }, cause: isEnding(worker.directory) ? "stopped" : null };
}

function seenAlive(context: AcpContext, worker: Worker, session: SessionState, agent: Identity): RuntimeSeen {
  const { build } = worker.record;
  return {
    launch: worker.launch,
    agent: { alive: true, identity: agent },
    // Looked up when somebody wants to see them: no decision needs the keeper.
    get processes() {
      return processesOf(worker, agent);
    },
    activity: activityOf(session),
    // The store follows what the agent reports; nothing newer is known here.
    agentSessionId: null,
    lastLines: [],
    deaf: worker.feederGone || !feederHears(worker, session),
    build,
    stale: context.agents.of(session) !== null && context.isStale(session, build),
  };
}

function processesOf(worker: Worker, agent: Identity): RuntimeSeen["processes"] {
  const { keeper, feeder } = worker.record;
  const others = [
    { what: "keeper", recorded: keeper },
    { what: "feeder", recorded: feeder },
  ].flatMap(({ what, recorded }) => {
    const identity = recorded === null ? null : identityOf(worker.record, recorded);
    return identity === null || !isAlive(identity) ? [] : [processOf(identity, what)];
  });
  return [processOf(agent, "agent"), ...others];
}

/**
 * A stopped feeder is continued; one that is gone cannot be replaced under a living agent. While nothing is to be said
 * the cheapest question is enough: should another process have its pid by then, the bell tells.
 */
function feederHears(worker: Worker, session: SessionState): boolean {
  const { feeder } = worker.record;
  if (feeder === null) return true;
  if (session.turn.turn !== "open" && worker.waiting === 0 && session.queue.length === 0) return exists(feeder.pid);
  const identity = identityOf(worker.record, feeder);
  const stat = readStat(feeder.pid);
  if (!lives(stat, identity)) return false;
  if (stat.state === "T") signalIdentity(identity, "SIGCONT");
  return true;
}

/** The watcher and we stop an agent for want of room; a watcher that died cannot let it go on. */
function wakeUnlessHeld(context: AcpContext, worker: Worker, agent: Identity): void {
  if (worker.bounds.paused) return;
  context.bounds.adopt(worker);
  if (worker.bounds.paused) return;
  const { watcher } = readPids(worker.directory);
  if (watcher === null || !carriesMarker(watcher, worker.launch)) signalIdentity(agent, "SIGCONT");
}

function activityOf(session: SessionState): RuntimeSeen["activity"] {
  const since = session.lastActivityAt;
  const [asked] = session.permissions;
  if (asked !== undefined) return { activity: "needs_input", source: "chat", since, reason: asked.title };
  const activity = session.turn.turn === "open" ? "working" : "idle";
  return { activity, source: "chat", since, reason: null };
}

function lives(stat: ProcessStat | null, identity: Identity): stat is ProcessStat {
  return stat !== null && stat.startTime === identity.startTime && stat.state !== "Z" && stat.state !== "X";
}

function processOf(identity: Identity, what: string): RuntimeSeen["processes"][number] {
  return { identity, what, startedAt: startedAt(identity) ?? 0 };
}
