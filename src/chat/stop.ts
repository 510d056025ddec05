/**
 * Stops a chat agent: cancel its turn, await the response, close its stdin and signal the tree, then kill, then verify.
 * Never by force first: an agent writes its transcript some 100 ms late. The last read comes after the complete tree is
 * proven gone, because its children may still write; then the launch's directory is removed.
 */
import { existsSync } from "node:fs";
import { forgetCgroup } from "../base/cgroup.ts";
import { isAlive } from "../base/pid.ts";
import type { StopResult } from "../ports/runtime.ts";
import type { LaunchId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { launchMarker, type AgentRecord } from "../contract/worker-record.ts";
import { markStopping, stopTree } from "../base/stop-mark.ts";
import type { AcpContext } from "./context.ts";
import { ring } from "./agent-input.ts";
import { cancelTurn } from "./turns.ts";
import {
  findAgentProcess,
  offsetsOf,
  firstsOf,
  isFed,
  identityOf,
  recordedIdentities,
  AgentProcess,
} from "./agent-process.ts";
import { readExit, readPids } from "./agent-files.ts";

/** Real agents respond to a cancel within 350 ms; one that hangs must not delay the stop. */
const cancelMs = 2_000;
const forcedCancelMs = 500;
const deathLines = 20;

/** With `except`, stops every other launch. */
export async function stop(
  context: AcpContext,
  session: SessionState,
  options: { force: boolean; deadlineMs: number },
  except: LaunchId | null = null,
): Promise<StopResult> {
  const until = performance.now() + options.deadlineMs;
  const { files, output } = context;
  const current = output.get(session.id) ?? findAgentProcess(context, session)?.proc ?? null;
  const proc = current?.launch === except ? null : current;
  if (proc !== null && isUp(context, proc)) {
    const known = output.get(session.id) === proc;
    if (!known) output.follow(proc);
    const waitMs = options.force ? forcedCancelMs : Math.min(cancelMs, options.deadlineMs / 4);
    if (isFed(proc)) await cancelTurn(context, proc, { by: "stop", waitMs });
    markStopping(proc.directory);
    // Closes the agent's stdin; most agents then exit on their own.
    ring(proc.directory, "q");
  }
  const launches = new Set([...files.launches(session.id), ...(proc === null ? [] : [proc.launch])]);
  if (session.run.run !== "none") launches.add(session.run.launch);
  if (except !== null) launches.delete(except);
  const recorded = session.run.run === "up" && session.run.agent !== null ? [session.run.agent] : [];
  const roots = [...(proc === null ? [] : recordedIdentities(proc.record)), ...recorded];
  const records = [...launches].flatMap((launch) => recordOf(context, launch, proc) ?? []);
  const cgroups = records.flatMap(({ cgroup = null }) => cgroup ?? []);
  const target = { roots, marker: { name: launchMarker, values: [...launches] }, cgroups, ...firstsOf(records) };
  const remaining = await stopTree(target, { ...options, until, helpers: helpersOf(proc) });
  const exit = proc === null ? null : readExit(proc.directory);
  const lastLines = proc === null ? [] : files.errorLines(session.id, proc.launch, deathLines);
  if (remaining.length > 0) return { remaining, exit, lastLines };
  for (const launch of launches) {
    await clearLaunch(context, session, launch === proc?.launch ? proc : null, launch);
  }
  if (except === null) finishSession(context, session);
  return { remaining, exit, lastLines };
}

/**
 * Watcher and feeder. A keeper stops them, and is waited for because it records the exit status; the watcher of a killed
 * keeper would notice only at its next tick.
 */
function helpersOf(proc: AgentProcess | null): number[] {
  if (proc === null) return [];
  const { watcher, feeder } = readPids(proc.directory);
  return [watcher, feeder].filter((pid) => pid !== null);
}

/** Reads the last output of a launch of which nothing runs, and removes its files. */
export async function clearAway(context: AcpContext, session: SessionState, proc: AgentProcess): Promise<void> {
  await clearLaunch(context, session, proc, proc.launch);
  finishSession(context, session);
}

/** The last read, then the files, then the rows: after a crash in between the rest is done again. */
async function clearLaunch(
  context: AcpContext,
  session: SessionState,
  known: AgentProcess | null,
  launch: LaunchId,
): Promise<void> {
  const { files, store, output } = context;
  const proc = known ?? leftover(context, session, launch);
  if (proc !== null && existsSync(proc.directory) && store.launchOffsets(launch) !== null) {
    await proc.appending;
    await output.finish(proc);
  }
  if (proc !== null) output.unfollow(proc);
  const cgroup = recordOf(context, launch, proc)?.cgroup ?? null;
  if (cgroup !== null) forgetCgroup(cgroup);
  files.remove(session.id, launch);
  await store.forgetLaunch(launch);
}

function recordOf(context: AcpContext, launch: LaunchId, known: AgentProcess | null): AgentRecord | null {
  return known?.launch === launch ? known.record : (offsetsOf(context, launch)?.record ?? null);
}

function leftover(context: AcpContext, session: SessionState, launch: LaunchId): AgentProcess | null {
  const place = context.store.launchOffsets(launch);
  // The store first, as everywhere: the file may be of another launch, and has no truncation.
  const record = offsetsOf(context, launch)?.record ?? context.files.readRecord(session.id);
  if (place === null || record === null) return null;
  return new AgentProcess({ ...record, launch }, context.files.directory(session.id, launch), place.outRead);
}

/** The record is removed last. */
export function finishSession(context: AcpContext, session: SessionState): void {
  const { want } = context.store.session(session.id)?.intent ?? session.intent;
  if (want === "deleted") context.files.removeAll(session.id);
  else context.files.removeRecord(session.id);
}

function isUp(context: AcpContext, proc: AgentProcess): boolean {
  const { agent, bootId } = proc.record;
  return bootId === context.bootId && agent !== null && isAlive(identityOf(proc.record, agent));
}
