/** A running launch as this daemon knows it. Keeps no descriptor open: an idle session costs only this object. */
import type { LineSplitter } from "../base/lines.ts";
import { attempt } from "../base/attempt.ts";
import { identify, isAlive, type Identity, readStat } from "../base/pid.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import { type RecordedProcess, type AgentRecord, launchMarker } from "../contract/worker-record.ts";
import { setTimeout as delay } from "node:timers/promises";
import { readExit } from "./agent-files.ts";
import { readFileSync } from "node:fs";
import type { SessionState } from "../model/session.ts";
import type { LaunchOffsets } from "../ports/store.ts";
import { expectedLaunch } from "../model/runs.ts";
import type { AcpContext } from "./context.ts";

/** How long the keeper may take to write the exit status. Without it an own exit would count as a crash. */
const writtenMs = 4_000;
const pollMs = 3;

export async function awaitExit(proc: AgentProcess): Promise<void> {
  const { agent, keeper } = proc.record;
  if (agent !== null && isAlive(identityOf(proc.record, agent))) return;
  const until = performance.now() + writtenMs;
  // A stopped keeper would never write it.
  const writes = (): boolean =>
    keeper === null || (isAlive(identityOf(proc.record, keeper)) && readStat(keeper.pid)?.state !== "T");
  while (readExit(proc.directory) === null && writes() && performance.now() < until) await delay(pollMs);
}

export class AgentProcess {
  readonly session: SessionId;
  readonly launch: LaunchId;
  readonly directory: string;
  record: AgentRecord;
  /** Everything of `out` before this byte is committed. */
  read: number;
  /** Everything before this byte was given to the splitter. */
  fed: number;
  /** Set only while it contains part of a line. */
  splitter: LineSplitter | null = null;
  /** The read in progress; there is one at a time. */
  pumping: Promise<void> | null = null;
  /** Appends in progress, one after the other. */
  appending: Promise<unknown> = Promise.resolve();
  /** Whether a turn is open or a response is awaited: then `out` is checked often. */
  turnOpen = false;
  waiting = 0;
  /** Checked often until then, because something was just written or sent. */
  hotUntil = 0;
  /** After a failed commit nothing is read before this. */
  notBefore = 0;
  /** `in` is known to be complete up to here. */
  appendedTo = 0;
  /** The agent can no longer receive input. */
  feederGone = false;
  /** Since when each check found its `out` removed; null while it exists or nothing is known. */
  missingSince: number | null = null;
  lossReported = false;
  endReported = false;
  readonly bounds = {
    reservedTo: 0,
    /** The size of the latest reserve; renewed when a quarter of it is left. */
    reserved: 0,
    punchedTo: 0,
    /** The file system does not support holes. */
    cannotPunch: false,
    /** The next hole, or the next attempt at a failed cut, comes after this. */
    giveBackNotBefore: 0,
    busy: false,
    paused: false,
    renewedAt: -Infinity,
    errorsAt: 0,
  };

  constructor(record: AgentRecord, directory: string, read: number) {
    this.session = record.session;
    this.launch = record.launch;
    this.directory = directory;
    this.record = record;
    this.read = read;
    this.fed = read;
  }
}

export function identityOf(record: AgentRecord, recorded: RecordedProcess): Identity {
  return { bootId: record.bootId, ...recorded };
}

/** Keeper, feeder and agent, as far as they are recorded. */
export function recordedIdentities(record: AgentRecord): Identity[] {
  return [record.keeper, record.feeder, record.agent].flatMap((one) => (one === null ? [] : [identityOf(record, one)]));
}

/** For a tree of contained launches: the first processes of their namespaces. */
export function firstsOf(records: readonly AgentRecord[]): { firsts?: Identity[] } {
  const contained = records.filter((record) => record.contained !== undefined);
  if (contained.length === 0) return {};
  return {
    firsts: contained.flatMap((record) => {
      const first = record.contained?.first ?? null;
      return first === null ? [] : [identityOf(record, first)];
    }),
  };
}

/** The cheapest check. The pid may have been reused: only `false` is reliable. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Whether a feeder still passes input to the agent. Without one it never responds. */
export function isFed(proc: AgentProcess): boolean {
  const { feeder } = proc.record;
  return !proc.feederGone && (feeder === null || isAlive(identityOf(proc.record, feeder)));
}

interface KnownOffsets {
  outRead: number;
  settled: boolean;
  record: AgentRecord;
}

export function offsetsOf(context: AcpContext, launch: LaunchId): KnownOffsets | null {
  const place = context.store.launchOffsets(launch);
  return place === null ? null : knownOffsets(place);
}

/** Null if a crash came before the launch was recorded. */
function knownOffsets(place: LaunchOffsets): KnownOffsets | null {
  const record = JSON.parse(place.info) as AgentRecord;
  return record.version === 1 ? { outRead: place.outRead, settled: place.settled, record } : null;
}

interface FoundProcess {
  proc: AgentProcess;
  settled: boolean;
  /** Of the expected launch. */
  place: LaunchOffsets | null;
  /** The store does not know this launch. */
  unrecorded: boolean;
}

/** The launch that exists, expected or not; null if none is known. */
export function findAgentProcess(
  context: AcpContext,
  session: SessionState,
  offsets: ReadonlyMap<LaunchId, LaunchOffsets> | null = null,
): FoundProcess | null {
  const { files, store } = context;
  const expected = expectedLaunch(session);
  const stored = expected === null ? null : (offsets?.get(expected) ?? store.launchOffsets(expected));
  const known = stored === null ? null : knownOffsets(stored);
  // The store first: then a damaged or missing record file does no harm. If its launch left no directory, the file may
  // name a launch that the store lost.
  const lost = known !== null && !files.has(session.id, known.record.launch);
  const file = known === null || lost ? files.readRecord(session.id) : null;
  const newer = file !== null && isUnrecorded(context, session, file) ? file : null;
  const record = newer ?? known?.record ?? file;
  if (record === null) return null;
  if (newer !== null) {
    const proc = new AgentProcess(newer, files.directory(session.id, newer.launch), 0);
    return { proc, settled: true, place: null, unrecorded: true };
  }
  const place = known ?? offsetsOf(context, record.launch);
  const directory = files.directory(session.id, record.launch);
  return {
    proc: new AgentProcess(place?.record ?? record, directory, place?.outRead ?? 0),
    settled: place?.settled ?? false,
    place: stored,
    unrecorded: false,
  };
}

/** Whether the file names another launch than the expected one, whose files exist and which the store does not know. */
function isUnrecorded({ files, store }: AcpContext, session: SessionState, { launch }: AgentRecord): boolean {
  return launch !== expectedLaunch(session) && files.has(session.id, launch) && store.launchOffsets(launch) === null;
}

/** The process with this pid if it carries the launch's marker: a pid alone may have been reused. */
export function ownProcess({ launch }: AgentProcess, pid: number | null): RecordedProcess | null {
  const identity = pid === null || !carriesMarker(pid, launch) ? null : identify(pid);
  return identity && { pid: identity.pid, startTime: identity.startTime };
}

export function carriesMarker(pid: number, launch: LaunchId): boolean {
  if (process.platform !== "linux") return true;
  const environment = attempt(() => readFileSync(`/proc/${pid}/environ`, "latin1"), "");
  return `\0${environment}`.includes(`\0${launchMarker}=${launch}\0`);
}
