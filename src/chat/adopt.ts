/**
 * Lines in an agent's `in` that the store does not know, because the database is older. They count as sent: the next line
 * follows them, their prompts are not sent again, and a prompt without a response is an open turn.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { parseObject } from "../base/attempt.ts";
import { LineSplitter } from "../base/lines.ts";
import type { Transition, LaunchOffsets } from "../ports/store.ts";
import { keyOf, promptOf, type ReplayFilter } from "../contract/acp.ts";
import type { FactEvent } from "../contract/event.ts";
import type { LaunchId, PromptId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { AcpContext } from "./context.ts";
import { maxLineBytes } from "./agent-output.ts";
import { fileSize } from "./agent-files.ts";

const chunkBytes = 1024 * 1024;
/** Longer than any line that we write. */
const maxSentBytes = 256 * 1024 * 1024;

export async function adoptUnrecorded(
  context: AcpContext,
  session: SessionState,
  launch: LaunchId,
  events: Transition,
): Promise<void> {
  const { files, store } = context;
  const record = files.readRecord(session.id);
  if (record?.launch !== launch) return;
  const directory = files.directory(session.id, launch);
  const sent = (await readSent(directory, launch, 0)) ?? nothingSent;
  const open = await openPrompt(directory, launch, sent);
  const inEnd = fileSize(join(directory, "in")) ?? 0;
  await store.chat(session.id, launch, (state, place) =>
    place !== null
      ? { events: events(state) }
      : {
          events: [...events(state), ...sentEvents(state, sent, open)],
          info: JSON.stringify(record),
          inEnd,
          replayFilter: sent.replayFilter,
        },
  );
}

/** Moves a launch's offset past the lines that the lost record sent. False if `in` contains foreign bytes. */
export async function catchUpWithSent(
  context: AcpContext,
  session: SessionState,
  place: LaunchOffsets,
): Promise<boolean> {
  const { launch, inEnd } = place;
  const directory = context.files.directory(session.id, launch);
  const size = fileSize(join(directory, "in")) ?? 0;
  if (size <= inEnd) return true;
  const sent = await readSent(directory, launch, inEnd);
  if (sent === null) return false;
  const open = await openPrompt(directory, launch, sent);
  context.log.warn("the agent's input has lines that the database does not know; it is older than its home", {
    session: session.id,
  });
  await context.store.chat(session.id, launch, (state, now) =>
    now?.inEnd === inEnd ? { events: sentEvents(state, sent, open), inEnd: size } : null,
  );
  return true;
}

interface Sent {
  prompts: PromptId[];
  /** Whether the replay after a load is still to come. */
  replayFilter: ReplayFilter;
}

const nothingSent: Sent = { prompts: [], replayFilter: null };

/** Null if it contains a line that Holdfast never writes. */
export async function readSent(directory: string, launch: LaunchId, from: number): Promise<Sent | null> {
  const sent: Sent = { prompts: [], replayFilter: null };
  for await (const line of linesOf(join(directory, "in"), from, maxSentBytes)) {
    if (line === "") continue;
    const message = line === null ? null : parseObject(line);
    if (message === null) return null;
    const { method, id } = message;
    if (method === undefined || method === "session/cancel") continue;
    const key = keyOf(launch, id);
    if (key === null) return null;
    const prompt = promptOf(key);
    if (prompt !== null) sent.prompts.push(prompt);
    if (method === "session/load") sent.replayFilter = "answer";
  }
  return sent;
}

/** In pieces: the file may be larger than the longest string. Null for an oversized or incomplete line. */
async function* linesOf(path: string, from: number, maxBytes: number): AsyncGenerator<string | null> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    const splitter = new LineSplitter(maxBytes, from);
    const buffer = Buffer.allocUnsafe(chunkBytes);
    for (let at = from; ;) {
      const { bytesRead } = await file.read(buffer, 0, chunkBytes, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      for (const line of splitter.push(buffer.subarray(0, bytesRead)))
        yield line.line === "complete" ? line.text : null;
    }
    if (splitter.pending > 0) yield null;
  } finally {
    await file.close();
  }
}

/** The last prompt, if its response is not in `out`. */
export async function openPrompt(
  directory: string,
  launch: LaunchId,
  { prompts }: Pick<Sent, "prompts">,
): Promise<PromptId | null> {
  const last = prompts.at(-1);
  if (last === undefined) return null;
  for await (const line of linesOf(join(directory, "out"), 0, maxLineBytes)) {
    const message = line?.includes(last) === true ? parseObject(line) : null;
    const key = message === null || message["method"] !== undefined ? null : keyOf(launch, message["id"]);
    if (key !== null && promptOf(key) === last) return null;
  }
  return last;
}

function sentEvents({ queue }: SessionState, { prompts }: Sent, open: PromptId | null): FactEvent[] {
  const waiting = new Set<string>(queue.map(({ promptId }) => promptId));
  return [
    ...prompts
      .filter((promptId) => waiting.has(promptId))
      .map((promptId): FactEvent => ({ type: "prompt.sent", promptId, seenBy: "in" })),
    ...(open === null ? [] : [{ type: "turn.started" as const, promptId: open }]),
  ];
}
