/** Finds a session's launch again: by what the store keeps of it, else by its record file, and always by identity. */
import { readFileSync } from "node:fs";
import type { LaunchId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { launchMarker, type WorkerRecord } from "../contract/worker-record.ts";
import type { LaunchPlace } from "../ports/store.ts";
import type { AcpContext } from "./context.ts";
import { newWorker, type Worker } from "./agent-process.ts";

export interface KnownPlace {
  outRead: number;
  settled: boolean;
  record: WorkerRecord;
}

export function placeOf(context: AcpContext, launch: LaunchId): KnownPlace | null {
  const place = context.store.launchPlace(launch);
  return place === null ? null : knownPlace(place);
}

/** Null when a crash came before anything was learnt of the launch. */
export function knownPlace(place: LaunchPlace): KnownPlace | null {
  const record = JSON.parse(place.info) as WorkerRecord;
  return record.version === 1 ? { outRead: place.outRead, settled: place.settled, record } : null;
}

export interface FoundWorker {
  worker: Worker;
  settled: boolean;
  /** Of the expected launch. */
  place: LaunchPlace | null;
  /** The store does not know this launch. */
  unrecorded: boolean;
}

/** The launch that is there, expected or not; null when nothing is known of any. */
export function findWorker(
  context: AcpContext,
  session: SessionState,
  places: ReadonlyMap<LaunchId, LaunchPlace> | null,
): FoundWorker | null {
  const { files, store } = context;
  const expected = session.run.run === "none" ? null : session.run.launch;
  const stored = expected === null ? null : (places?.get(expected) ?? store.launchPlace(expected));
  const known = stored === null ? null : knownPlace(stored);
  // The store's word first: a damaged or missing record file then harms nothing. Where the launch it names left no
  // directory, the file may name one that the store lost.
  const lost = known !== null && !files.has(session.id, known.record.launch);
  const file = known === null || lost ? files.readRecord(session.id) : null;
  const newer = file !== null && isUnrecorded(context, session, file) ? file : null;
  const record = newer ?? known?.record ?? file;
  if (record === null) return null;
  if (newer !== null) {
    const worker = newWorker(newer, files.directory(session.id, newer.launch), 0);
    return { worker, settled: true, place: null, unrecorded: true };
  }
  const place = known ?? placeOf(context, record.launch);
  const directory = files.directory(session.id, record.launch);
  return {
    worker: newWorker(place?.record ?? record, directory, place?.outRead ?? 0),
    settled: place?.settled ?? false,
    place: stored,
    unrecorded: false,
  };
}

/** Of another launch than the expected one, with its files in place, and without a trace in the store. */
function isUnrecorded({ files, store }: AcpContext, session: SessionState, { launch }: WorkerRecord): boolean {
  const expected = session.run.run === "none" ? null : session.run.launch;
  return launch !== expected && files.has(session.id, launch) && store.launchPlace(launch) === null;
}

export function carriesMarker(pid: number, launch: LaunchId): boolean {
  if (process.platform !== "linux") return true;
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(`\0${launchMarker}=${launch}\0`);
  } catch {
    return false;
  }
}
