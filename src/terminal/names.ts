/**
 * Names that a person sees in tmux and on disk. Sessions are *found* by their options, never by name: tmux rewrites
 * `.` and `:`, matches prefixes, and runs `#(…)`.
 */
import { crypto } from "../base/digest.ts";
import type { SessionState } from "../model/session.ts";

/** Longer names are cut and told apart by a hash. */
const maxNameLength = 80;
const hashLength = 8;

/** `worker-<project>-<id>`, `orchestrator-<project>`, `shell-<project>-<n>`, with nothing in it that tmux reads. */
export function tmuxName(session: Pick<SessionState, "role" | "project" | "id">): string {
  const { role, project, id } = session;
  const last = { worker: `-${id}`, orchestrator: "", shell: `-${id.slice(id.indexOf("-") + 1)}` }[role];
  return safeName(`${role}-${project}${last}`);
}

/** A second name for when the first is taken by something else. */
export function otherName(name: string, session: string): string {
  return `${name.slice(0, maxNameLength - hashLength - 1)}-${hash(session)}`;
}

/** Letters and digits of any script, `_` and `-`. Different texts give different names. */
export function safeName(text: string): string {
  // Nearly every name: asked for each session on each look.
  if (text.length <= maxNameLength && /^[A-Za-z0-9_-]+$/.test(text)) return text;
  const safe = text.normalize("NFC").replaceAll(/[^\p{L}\p{M}\p{N}_-]/gu, "_");
  const characters = Array.from(safe);
  if (safe === text && characters.length <= maxNameLength) return safe;
  return `${characters.slice(0, maxNameLength - hashLength - 1).join("")}-${hash(text)}`;
}

function hash(text: string): string {
  return crypto().createHash("sha256").update(text).digest("hex").slice(0, hashLength);
}
