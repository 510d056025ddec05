/**
 * Cuts an agent's `out` to nothing once all of it is read, where no hole can be punched into it. The agent is stopped, and
 * it appends: its next line stands at the start. A row says first that the file is being cut at its end; then it is cut;
 * then a row takes that back and sets the offset to 0, in one transaction. Whoever dies in between, the next daemon looks
 * at the file: shorter, or with other bytes before that end, it was cut; else it was not, and is read on as before.
 */
import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { reach } from "../base/test-points.ts";
import type { Truncation, WorkerRecord } from "../contract/worker-record.ts";
import type { AcpContext } from "./context.ts";
import { outOf } from "./agent-output.ts";
import type { Worker } from "./agent-process.ts";

/** So many bytes before the end are compared: some lines. */
const comparedBytes = 4096;

/** Only while the agent and all that it started are stopped. False when there is half a line, which has to be waited for. */
export async function truncateRead(context: AcpContext, worker: Worker): Promise<boolean> {
  await context.inbox.catchUp(worker);
  return context.inbox.alone(worker, async () => {
    const file = openSync(outOf(worker), constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      const at = worker.read;
      if (fstatSync(file).size !== at || at === 0) return false;
      await note(context, worker, { ...worker.record, truncating: { at, crc: crcBefore(file, at) } });
      await reach("truncate.noted");
      // Written to in spite of all: then it is left as it is.
      if (fstatSync(file).size === at) {
        ftruncateSync(file, 0);
        // On disk before the offset: after a power cut the old bytes must not be there to be read again.
        fsyncSync(file);
      }
    } finally {
      closeSync(file);
    }
    await reach("truncate.cut");
    await settleCut(context, worker);
    await reach("truncate.settled");
    return worker.read === 0;
  });
}

/** Takes the note back; where the file was cut, what follows begins at its start. */
export async function settleCut(context: AcpContext, worker: Worker): Promise<void> {
  const { truncating = null, ...rest } = worker.record;
  if (truncating === null) return;
  const wasCut = !isUncut(outOf(worker), truncating);
  await note(context, worker, { ...rest, truncating: null }, wasCut ? 0 : undefined);
  if (!wasCut) return;
  worker.read = 0;
  worker.fed = 0;
  worker.splitter = null;
  worker.bounds.punchedTo = 0;
  worker.bounds.reservedTo = 0;
}

async function note(context: AcpContext, worker: Worker, record: WorkerRecord, outRead?: number): Promise<void> {
  const info = JSON.stringify(record);
  await context.store.chat(worker.session, worker.launch, (_state, place) =>
    place === null ? null : { info, ...(outRead === undefined ? {} : { outRead }) },
  );
  worker.record = record;
}

function isUncut(path: string, { at, crc }: Truncation): boolean {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    return fstatSync(file).size >= at && crcBefore(file, at) === crc;
  } finally {
    closeSync(file);
  }
}

function crcBefore(file: number, at: number): number {
  const bytes = Buffer.alloc(Math.min(comparedBytes, at));
  readSync(file, bytes, 0, bytes.length, at - bytes.length);
  return crc32(bytes);
}
