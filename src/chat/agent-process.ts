/** One living launch as this daemon knows it. Holds no descriptor: an idle session costs this object and nothing else. */
import type { LineSplitter } from "../base/lines.ts";
import { isAlive, type Identity } from "../base/pid.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import type { RecordedProcess, WorkerRecord } from "../contract/worker-record.ts";

export interface Worker {
  readonly session: SessionId;
  readonly launch: LaunchId;
  readonly directory: string;
  record: WorkerRecord;
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
  /** Whether a turn is open or an answer is waited for: then `out` is looked at often. */
  turnOpen: boolean;
  waiting: number;
  /** Looked at often until then, because something was just written or sent. */
  hotUntil: number;
  /** After a failed commit nothing is read before this. */
  notBefore: number;
  /** `in` is known to be whole up to here. */
  appendedTo: number;
  /** The bell found nobody: the agent can no longer be told anything. */
  feederGone: boolean;
  /** Since when each look found its `out` removed; null while it is there or nothing is known. */
  missingSince: number | null;
  /** That loss was reported. */
  lossReported: boolean;
  /** Its end was seen and told of. */
  endTold: boolean;
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

export function newWorker(record: WorkerRecord, directory: string, read: number): Worker {
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
    endTold: false,
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

export function identityOf(record: WorkerRecord, recorded: RecordedProcess): Identity {
  return { bootId: record.bootId, ...recorded };
}

/** Identities of all that is recorded of a launch. */
export function recordedIdentities(record: WorkerRecord): Identity[] {
  return [record.keeper, record.feeder, record.agent].flatMap((one) => (one === null ? [] : [identityOf(record, one)]));
}

/** For a tree of contained launches: their namespaces' first processes. Nothing where none of them is contained. */
export function firstsOf(records: readonly WorkerRecord[]): { firsts?: Identity[] } {
  const contained = records.filter((record) => record.contained !== undefined);
  if (contained.length === 0) return {};
  return {
    firsts: contained.flatMap((record) => {
      const first = record.contained?.first ?? null;
      return first === null ? [] : [identityOf(record, first)];
    }),
  };
}

/** The cheapest question there is. The pid may be somebody else's by now: only a no can be relied on. */
export function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** A deaf agent cannot be told; waiting for its answer would be in vain. */
export function hears(worker: Worker): boolean {
  const { feeder } = worker.record;
  return !worker.feederGone && (feeder === null || isAlive(identityOf(worker.record, feeder)));
}
