/** The bytes of prompts' attachments, written with the event that names them. */
import type { PromptId, SessionId } from "../contract/ids.ts";
import type { Sqlite } from "./sqlite.ts";

export function saveAttachment(sqlite: Sqlite, at: AttachmentPlace, bytes: Uint8Array): void {
  sqlite
    .statement("INSERT INTO prompt_attachments (session, prompt_id, n, bytes) VALUES (?, ?, ?, ?)")
    .run(at.session, at.promptId, at.n, bytes);
}

export function readAttachment(sqlite: Sqlite, { session, promptId, n }: AttachmentPlace): Uint8Array | null {
  const row = sqlite
    .statement("SELECT bytes FROM prompt_attachments WHERE session = ? AND prompt_id = ? AND n = ?")
    .get(session, promptId, n);
  return row?.["bytes"] instanceof Uint8Array ? row["bytes"] : null;
}

export function dropAttachments(sqlite: Sqlite, session: SessionId): void {
  sqlite.statement("DELETE FROM prompt_attachments WHERE session = ?").run(session);
}

interface AttachmentPlace {
  session: SessionId;
  promptId: PromptId;
  /** Its place in the prompt, from 0. */
  n: number;
}
