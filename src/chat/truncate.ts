/**
 * Empties an agent's `out` once all of it is read, if the file system does not support holes. The agent is paused, and
 * appends: its next line goes to the start. First the truncation is recorded with the file's end; then the file is
 * truncated; then one transaction removes the record and sets the offset to 0. After a crash in between, the next daemon
 * inspects the file: if it is shorter, or has other bytes before that end, it was truncated.
 */
import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from "node:fs";
import { crc32 } from "node:zlib";
import { reach } from "../base/test-points.ts";
import type { Truncation, AgentRecord } from "../contract/worker-record.ts";
import type { AcpContext } from "./context.ts";
import { outOf } from "./agent-output.ts";
import type { AgentProcess } from "./agent-process.ts";

/** How many bytes before the end are compared: some lines. */
const comparedBytes = 4096;

/** Only while the agent's complete tree is paused. False if the last line is incomplete. */
export async function truncateRead(context: AcpContext, proc: AgentProcess): Promise<boolean> {
  await context.output.catchUp(proc);
  return context.output.alone(proc, async () => {
    const file = openSync(outOf(proc), constants.O_RDWR | constants.O_NOFOLLOW);
    try {
      const at = proc.read;
      if (fstatSync(file).size !== at || at === 0) return false;
      await note(context, proc, { ...proc.record, truncating: { at, crc: crcBefore(file, at) } });
      await reach("truncate.noted");
      // Written to nevertheless: not truncated.
      if (fstatSync(file).size === at) {
        ftruncateSync(file, 0);
        // On disk before the offset: after a power cut the old bytes must not be read again.
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

/** Removes the record of a truncation; if the file was truncated, reading starts over at 0. */
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
