/** Prompts by the id of their sender, which makes retries safe. */
import { hash } from "node:crypto";
import { HoldfastError } from "../contract/errors.ts";
import type { Attachment } from "../contract/event.ts";
import type { PromptId, SessionId } from "../contract/ids.ts";
import type { PromptRow } from "../ports/store.ts";
import { decodeEvent, isIntact, type EventRow } from "./events.ts";
import type { Sqlite } from "./sqlite.ts";

/** An admitted prompt's position in its session, and a digest of its text. */
export interface Admission {
  session: SessionId;
  promptId: PromptId;
  seq: number;
  digest: string;
}

export function digestOf(text: string, attachments: readonly Attachment[] = []): string {
  const digest = hash("sha256", text, "hex");
  if (attachments.length === 0) return digest;
  const named = attachments.map(({ type, name, mimeType, digest: bytes }) => [type, name, mimeType, bytes]);
  return hash("sha256", JSON.stringify([digest, named]), "hex");
}

export function readAdmission(sqlite: Sqlite, session: SessionId, promptId: PromptId): Admission | null {
  const sql = "SELECT session, prompt_id AS promptId, seq, digest FROM prompts WHERE session = ? AND prompt_id = ?";
  const row = sqlite.statement(sql).get(session, promptId) as unknown as Admission | undefined;
  return row ?? null;
}

export function saveAdmission(sqlite: Sqlite, { session, promptId, seq, digest }: Admission): void {
  sqlite
    .statement("INSERT INTO prompts (session, prompt_id, seq, digest) VALUES (?, ?, ?, ?)")
    .run(session, promptId, seq, digest);
}

/** Only the event has the text. A damaged one never reaches an agent. */
export function readPrompt(sqlite: Sqlite, session: SessionId, promptId: PromptId): PromptRow | null {
  const admission = readAdmission(sqlite, session, promptId);
  if (admission === null) return null;
  const row = sqlite
    .statement("SELECT session, seq, at, type, body, crc FROM events WHERE session = ? AND seq = ?")
    .get(session, admission.seq) as unknown as EventRow | undefined;
  if (row !== undefined && isIntact(row)) {
    const event = decodeEvent(row);
    if (event.type === "prompt.admitted") {
      return { session, promptId, text: event.text, attachments: event.attachments ?? [], seq: event.seq };
    }
  }
  throw new HoldfastError("storage", `The text of prompt ${promptId} of ${session} is damaged in the database.`, {
    hint: "Send it again under a new prompt id. `holdfast doctor` lists everything that is damaged.",
  });
}

export function saveAttachment(sqlite: Sqlite, at: AttachmentKey, bytes: Uint8Array): void {
  sqlite
    .statement("INSERT INTO prompt_attachments (session, prompt_id, n, bytes) VALUES (?, ?, ?, ?)")
    .run(at.session, at.promptId, at.n, bytes);
}

export function readAttachment(sqlite: Sqlite, { session, promptId, n }: AttachmentKey): Uint8Array | null {
  const row = sqlite
    .statement("SELECT bytes FROM prompt_attachments WHERE session = ? AND prompt_id = ? AND n = ?")
    .get(session, promptId, n);
  return row?.["bytes"] instanceof Uint8Array ? row["bytes"] : null;
}

export function dropAttachments(sqlite: Sqlite, session: SessionId): void {
  sqlite.statement("DELETE FROM prompt_attachments WHERE session = ?").run(session);
}

interface AttachmentKey {
  session: SessionId;
  promptId: PromptId;
  /** Its index in the prompt, from 0. */
  n: number;
}
