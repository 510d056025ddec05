/** Finds a session's launch again: by what the store keeps of it, else by its record file, and always by identity. */
import { readFileSync } from "node:fs";
import type { LaunchId } from "../../protocol/ids.ts";
import type { SessionState } from "../../protocol/session.ts";
import { launchMarker, type WorkerRecord } from "../../protocol/worker-record.ts";
import type { LaunchPlace } from "../../ports/store.ts";
import type { AcpContext } from "./context.ts";
import { newWorker, type Worker } from "./worker.ts";

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

/** The launch that is there, expected or not; null when nothing is known of any. */
export function findWorker(
  context: AcpContext,
  session: SessionState,
  places: ReadonlyMap<LaunchId, LaunchPlace> | null,
): { worker: Worker; settled: boolean } | null {
  const { files, store } = context;
  const expected = session.run.run === "none" ? null : session.run.launch;
  const stored = expected === null ? null : (places?.get(expected) ?? store.launchPlace(expected));
  const known = stored === null ? null : knownPlace(stored);
  // The store's word first: a damaged or missing record file then harms nothing.
  const record = known?.record ?? files.readRecord(session.id);
  if (record === null) return null;
  const place = known ?? placeOf(context, record.launch);
  const directory = files.directory(session.id, record.launch);
  return {
    worker: newWorker(place?.record ?? record, directory, place?.outRead ?? 0),
    settled: place?.settled ?? false,
  };
}

export function carriesMarker(pid: number, launch: LaunchId): boolean {
  if (process.platform !== "linux") return true;
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, "latin1")}`.includes(`\0${launchMarker}=${launch}\0`);
  } catch {
    return false;
  }
}
