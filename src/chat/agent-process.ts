/** One living launch as this daemon knows it. Holds no descriptor: an idle session costs this object and nothing else. */
import type { LineSplitter } from "../base/lines.ts";
import { isAlive, type Identity, readStat } from "../base/pid.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import { type RecordedProcess, type AgentRecord, launchMarker } from "../contract/worker-record.ts";
import { setTimeout as delay } from "node:timers/promises";
import { readExit } from "./agent-files.ts";
import { readFileSync } from "node:fs";
import type { SessionState } from "../model/session.ts";
import type { LaunchOffsets } from "../ports/store.ts";
import type { AcpContext } from "./context.ts";

/** Without it an agent that left of its own accord would count as crashed; but others wait to be checked meanwhile. */
const writtenMs = 4_000;
const pollMs = 3;

export async function awaitExit(proc: AgentProcess): Promise<void> {
  const { agent, keeper } = proc.record;
  if (agent !== null && isAlive(identityOf(proc.record, agent))) return;
  const until = performance.now() + writtenMs;
  // One that is stopped would never write it.
  const writes = (): boolean =>
    keeper === null || (isAlive(identityOf(proc.record, keeper)) && readStat(keeper.pid)?.state !== "T");
  while (readExit(proc.directory) === null && writes() && performance.now() < until) await delay(pollMs);
}

export interface AgentProcess {
  readonly session: SessionId;
  readonly launch: LaunchId;
  readonly directory: string;
  record: AgentRecord;
  /** Everything of `out` before this byte is committed. */
  read: number;
  /** Everything before this byte was given to the splitter. */
  fed: number;
  /** Only while it holds part of a line. */
  splitter: LineSplitter | null;
  /** A read that is going on; there is one at a time. */
  pumping: Promise<void> | null;
  /** Appends that are going on, one after the other. */
  appending: Promise<unknown>;
  /** Whether a turn is open or an answer is waited for: then `out` is checked often. */
  turnOpen: boolean;
  waiting: number;
  /** Looked at often until then, because something was just written or sent. */
  hotUntil: number;
  /** After a failed commit nothing is read before this. */
  notBefore: number;
  /** `in` is known to be complete up to here. */
  appendedTo: number;
  /** The bell found no one: the agent can no longer receive input. */
  feederGone: boolean;
  /** Since when each look found its `out` removed; null while it is there or nothing is known. */
  missingSince: number | null;
  /** That loss was reported. */
  lossReported: boolean;
  /** Its end was seen and told of. */
  endReported: boolean;
  bounds: {
    reservedTo: number;
    /** How much was asked for the last time; when a quarter of that is left it is renewed. */
    reserved: number;
    punchedTo: number;
    /** The file system makes no holes. */
    cannotPunch: boolean;
    /** The next hole, or the next attempt at a cut that did not work out, comes after this. */
    giveBackNotBefore: number;
    busy: boolean;
    paused: boolean;
    renewedAt: number;
    errorsAt: number;
  };
}

export function newAgentProcess(record: AgentRecord, directory: string, read: number): AgentProcess {
  return {
    session: record.session,
    launch: record.launch,
    directory,
    record,
    read,
    fed: read,
    splitter: null,
    pumping: null,
    appending: Promise.resolve(),
    turnOpen: false,
    waiting: 0,
    hotUntil: 0,
    notBefore: 0,
    appendedTo: 0,
    feederGone: false,
    missingSince: null,
    lossReported: false,
    endReported: false,
    bounds: {
      reservedTo: 0,
      reserved: 0,
      punchedTo: 0,
      cannotPunch: false,
      giveBackNotBefore: 0,
      busy: false,
      paused: false,
      renewedAt: -Infinity,
      errorsAt: 0,
    },
  };
}

export function identityOf(record: AgentRecord, recorded: RecordedProcess): Identity {
  return { bootId: record.bootId, ...recorded };
}

/** Identities of all that is recorded of a launch. */
export function recordedIdentities(record: AgentRecord): Identity[] {
  return [record.keeper, record.feeder, record.agent].flatMap((one) => (one === null ? [] : [identityOf(record, one)]));
}

/** For a tree of contained launches: their namespaces' first processes. Nothing where none of them is contained. */
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

/** The cheapest question there is. The pid may be another process's by now: only a no can be relied on. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** Whether a feeder still passes input to the agent. Without one no answer will come. */
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

/** Null when a crash came before anything was learnt of the launch. */
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

/** The launch that is there, expected or not; null when nothing is known of any. */
export function findAgentProcess(
  context: AcpContext,
  session: SessionState,
  places: ReadonlyMap<LaunchId, LaunchOffsets> | null,
): FoundProcess | null {
  const { files, store } = context;
  const expected = session.run.run === "none" ? null : session.run.launch;
  const stored = expected === null ? null : (places?.get(expected) ?? store.launchOffsets(expected));
  const known = stored === null ? null : knownOffsets(stored);
  // The store's word first: a damaged or missing record file then harms nothing. Where the launch it names left no
  // directory, the file may name one that the store lost.
  const lost = known !== null && !files.has(session.id, known.record.launch);
  const file = known === null || lost ? files.readRecord(session.id) : null;
  const newer = file !== null && isUnrecorded(context, session, file) ? file : null;
  const record = newer ?? known?.record ?? file;
  if (record === null) return null;
  if (newer !== null) {
    const proc = newAgentProcess(newer, files.directory(session.id, newer.launch), 0);
    return { proc, settled: true, place: null, unrecorded: true };
  }
  const place = known ?? offsetsOf(context, record.launch);
  const directory = files.directory(session.id, record.launch);
  return {
    proc: newAgentProcess(place?.record ?? record, directory, place?.outRead ?? 0),
    settled: place?.settled ?? false,
    place: stored,
    unrecorded: false,
  };
}

/** Of another launch than the expected one, with its files in place, and without a trace in the store. */
function isUnrecorded({ files, store }: AcpContext, session: SessionState, { launch }: AgentRecord): boolean {
  const expected = session.run.run === "none" ? null : session.run.launch;
  return launch !== expected && files.has(session.id, launch) && store.launchOffsets(launch) === null;
}

export function carriesMarker(pid: number, launch: LaunchId): boolean {
  if (process.platform !== "linux") return true;
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(`\0${launchMarker}=${launch}\0`);
  } catch {
    return false;
  }
}
