/**
 * Observes chat sessions by the identity of agent and feeder. A killed keeper does no harm. For an idle session this is
 * three reads of /proc.
 */
import { existsSync } from "node:fs";
import { isAlive, readStat, signalIdentity, startedAt, type Identity, type ProcessStat } from "../base/pid.ts";
import { findTree } from "../base/process-tree.ts";
import type { Observation, RuntimeSeen } from "../ports/runtime.ts";
import type { LaunchOffsets } from "../ports/store.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import { expectedLaunch } from "../model/runs.ts";
import type { SessionState } from "../model/session.ts";
import { launchMarker } from "../contract/worker-record.ts";
import { isStopping } from "../base/stop-mark.ts";
import {
  awaitExit,
  exists,
  firstsOf,
  identityOf,
  type AgentProcess,
  carriesMarker,
  findAgentProcess,
} from "./agent-process.ts";
import { flush } from "./client.ts";
import type { AcpContext } from "./context.ts";
import { learn, startedProcesses } from "./launch.ts";
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
  // One query for a start with hundreds of sessions (bench/chat.ts).
  const offsets =
    unknown.length < 10 ? null : new Map(context.store.allLaunchOffsets().map((one) => [one.launch, one]));
  const found = new Map<SessionId, Observation>();
  for (const session of sessions) found.set(session.id, await observeOne(context, session, offsets));
  return found;
}

function followed(context: AcpContext, session: SessionState): AgentProcess | null {
  const proc = context.output.get(session.id);
  const expected = expectedLaunch(session);
  return proc !== undefined && (expected === null || proc.launch === expected) ? proc : null;
}

async function observeOne(
  context: AcpContext,
  session: SessionState,
  offsets: ReadonlyMap<LaunchId, LaunchOffsets> | null,
): Promise<Observation> {
  const known = followed(context, session);
  const found =
    known === null
      ? findAgentProcess(context, session, offsets)
      : { proc: known, settled: true, place: null, unrecorded: false };
  if (found === null) return gone;
  const { proc } = found;
  // Not removed before it is on record: its output has to be read first.
  if (found.unrecorded && proc.record.bootId !== context.bootId) return dead(context, proc);
  if (proc.record.bootId !== context.bootId) {
    // Nothing of another boot is alive: the agent's last output is read and its files are removed.
    await clearAway(context, session, proc);
    return { seen: { is: "absent" }, cause: "other-boot" };
  }
  if (proc.record.agent === null) {
    const started = await findStarted(context, proc);
    if (started !== "found")
      return started === "starting"
        ? { seen: { is: "unknown", why: "it is being started" }, cause: null }
        : dead(context, proc, neverRan(proc));
  }
  const agent = identityOf(proc.record, proc.record.agent!);
  const stat = readStat(agent.pid);
  if (!lives(stat, agent)) {
    if (!existsSync(proc.directory)) return gone;
    // Otherwise a crash would be reported without its signal.
    if (proc.record.keeper !== null) await awaitExit(proc);
    return dead(context, proc);
  }
  if (known === null && !found.unrecorded) {
    const { place } = found;
    if (place !== null && !(await catchUpWithSent(context, session, place))) {
      context.log.warn("the agent's input contains lines that this home did not write", { session: session.id });
    }
    attach(context, session, proc, found.settled);
  }
  if (stat.state === "T") wakeUnlessHeld(context, proc, agent);
  return { seen: { is: "known", value: seenAlive(context, proc, session, agent) }, cause: null };
}

/** Continues at the committed byte and completes a line that a crash cut off. */
function attach(context: AcpContext, session: SessionState, proc: AgentProcess, settled: boolean): void {
  proc.turnOpen = session.turn.turn === "open";
  context.output.follow(proc);
  // An agent that responded to the last line has read all input; others are woken again.
  if (!settled) void flush(context, proc);
}

/** A crash may have come between the start and its record. */
async function findStarted(context: AcpContext, proc: AgentProcess): Promise<"found" | "starting" | "none"> {
  const started = startedProcesses(proc);
  if (started !== null) {
    await learn(context, proc, started);
    return "found";
  }
  if (proc.waiting > 0) return "starting";
  if (readExit(proc.directory) !== null) return "none";
  const marker = { name: launchMarker, values: [proc.launch] };
  const tree = await findTree({ roots: [], marker, ...firstsOf([proc.record]) });
  return tree.length > 0 ? "starting" : "none";
}

/** Whether nothing ever ran: a keeper immediately records its pid, and later the exit status. */
function neverRan({ directory }: AgentProcess): boolean {
  const { keeper, agent } = readPids(directory);
  return keeper === null && agent === null && readExit(directory) === null;
}

function dead(context: AcpContext, proc: AgentProcess, neverStarted = false): Observation {
  const value: RuntimeSeen = {
    launch: proc.launch,
    agent: { alive: false, exit: readExit(proc.directory) },
    processes: [],
    activity: null,
    agentSessionId: null,
    lastLines: context.files.errorLines(proc.session, proc.launch, deathLines),
    build: proc.record.build,
    neverStarted,
  };
  return { seen: { is: "known", value }, cause: isStopping(proc.directory) ? "stopped" : null };
}

function seenAlive(context: AcpContext, proc: AgentProcess, session: SessionState, agent: Identity): RuntimeSeen {
  const { build } = proc.record;
  return {
    launch: proc.launch,
    agent: { alive: true, identity: agent },
    // Read only when displayed: no decision needs them.
    get processes() {
      return processesOf(proc, agent);
    },
    activity: activityOf(session),
    // The store already has the id that the agent reported.
    agentSessionId: null,
    lastLines: [],
    deaf: proc.feederGone || !feederReads(proc, session),
    build,
    stale: context.agents.of(session) !== null && context.isStale(session, build),
  };
}

function processesOf({ record }: AgentProcess, agent: Identity): RuntimeSeen["processes"] {
  const others = (["keeper", "feeder"] as const).flatMap((what) => {
    const identity = record[what] && identityOf(record, record[what]);
    return identity === null || !isAlive(identity) ? [] : [processOf(identity, what)];
  });
  return [processOf(agent, "agent"), ...others];
}

/**
 * Continues a stopped feeder; one that is gone cannot be replaced while the agent runs. Without input to send the cheapest
 * check is enough: if the pid was reused, the next ring fails.
 */
function feederReads(proc: AgentProcess, session: SessionState): boolean {
  const { feeder } = proc.record;
  if (feeder === null) return true;
  if (session.turn.turn !== "open" && proc.waiting === 0 && session.queue.length === 0) return exists(feeder.pid);
  const identity = identityOf(proc.record, feeder);
  const stat = readStat(feeder.pid);
  if (!lives(stat, identity)) return false;
  if (stat.state === "T") signalIdentity(identity, "SIGCONT");
  return true;
}

/** Watcher and daemon pause an agent on a full disk; a watcher that died cannot let it continue. */
function wakeUnlessHeld(context: AcpContext, proc: AgentProcess, agent: Identity): void {
  if (proc.bounds.paused) return;
  context.bounds.adopt(proc);
  if (proc.bounds.paused) return;
  const { watcher } = readPids(proc.directory);
  if (watcher === null || !carriesMarker(watcher, proc.launch)) signalIdentity(agent, "SIGCONT");
}

function activityOf(session: SessionState): RuntimeSeen["activity"] {
  const since = session.lastActivityAt;
  const [request] = session.permissions;
  if (request !== undefined) return { activity: "needs_input", source: "chat", since, reason: request.title };
  const activity = session.turn.turn === "open" ? "working" : "idle";
  return { activity, source: "chat", since, reason: null };
}

function lives(stat: ProcessStat | null, identity: Identity): stat is ProcessStat {
  return stat !== null && stat.startTime === identity.startTime && stat.state !== "Z" && stat.state !== "X";
}

function processOf(identity: Identity, what: string): RuntimeSeen["processes"][number] {
  return { identity, what, startedAt: startedAt(identity) ?? 0 };
}
