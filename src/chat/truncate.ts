/**
 * Cuts an agent's `out` to nothing once all of it is read, where no hole can be punched into it. The agent is stopped, and
 * it appends: its next line stands at the start. A row says first that the file is being cut at its end; then it is cut;
 * then a row takes that back and sets the offset to 0, in one transaction. Whoever dies in between, the next daemon looks
 * at the file: shorter, or with other bytes before that end, it was cut; else it was not, and is read on as before.
 */
import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { reach } from "../base/test-points.ts";
import type { Truncation, AgentRecord } from "../contract/worker-record.ts";
import type { AcpContext } from "./context.ts";
import { outOf } from "./agent-output.ts";
import type { AgentProcess } from "./agent-process.ts";

/** So many bytes before the end are compared: some lines. */
const comparedBytes = 4096;

/** Only while the agent and all that it started are stopped. False when there is half a line, which has to be waited for. */
export async function truncateRead(context: AcpContext, proc: AgentProcess): Promise<boolean> {
  await context.output.catchUp(proc);
  return context.output.alone(proc, async () => {
    const file = openSync(outOf(proc), constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      const at = proc.read;
      if (fstatSync(file).size !== at || at === 0) return false;
      await note(context, proc, { ...proc.record, truncating: { at, crc: crcBefore(file, at) } });
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
    await settleCut(context, proc);
    await reach("truncate.settled");
    return proc.read === 0;
  });
}

/** Takes the note back; where the file was cut, what follows begins at its start. */
export async function settleCut(context: AcpContext, proc: AgentProcess): Promise<void> {
  const { truncating = null, ...rest } = proc.record;
  if (truncating === null) return;
  const wasCut = !isUncut(outOf(proc), truncating);
  await note(context, proc, { ...rest, truncating: null }, wasCut ? 0 : undefined);
  if (!wasCut) return;
  proc.read = 0;
  proc.fed = 0;
  proc.splitter = null;
  proc.bounds.punchedTo = 0;
  proc.bounds.reservedTo = 0;
}

async function note(context: AcpContext, proc: AgentProcess, record: AgentRecord, outRead?: number): Promise<void> {
  const info = JSON.stringify(record);
  await context.store.chat(proc.session, proc.launch, (_state, place) =>
    place === null ? null : { info, ...(outRead === undefined ? {} : { outRead }) },
  );
  proc.record = record;
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
