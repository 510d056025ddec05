/**
 * Comments on diff lines, collected until they are sent as one prompt. Stored in this browser: they survive a reload,
 * until they are sent or the session is deleted.
 */
import { createStore, useStore } from "zustand";
import { reviewKey } from "../shared/data/session-cache.ts";
import { readJson, storeOrWarn } from "../shared/data/storage.ts";

export interface Comment {
  id: string;
  path: string;
  side: "additions" | "deletions";
  line: number;
  /** The line when the comment was written. */
  quote: string;
  text: string;
}

export type DiffLine = Pick<Comment, "path" | "side" | "line" | "quote">;

const reviews = createStore<{ bySession: ReadonlyMap<string, readonly Comment[]> }>(() => ({ bySession: new Map() }));
const none: readonly Comment[] = [];

export function useReview(session: string): readonly Comment[] {
  return useStore(reviews, (state) => state.bySession.get(session)) ?? none;
}

/** Loads the comments stored by an earlier page. */
export function loadReview(session: string): void {
  if (reviews.getState().bySession.has(session)) return;
  const stored = readJson(reviewKey(session));
  if (Array.isArray(stored)) put(session, stored.filter(isComment));
}

export function addComment(session: string, line: DiffLine, text: string): void {
  change(session, (now) => [...now, { ...line, id: crypto.randomUUID(), text }]);
}

export function editComment(session: string, id: string, text: string): void {
  change(session, (now) => now.map((comment) => (comment.id === id ? { ...comment, text } : comment)));
}

export function removeComments(session: string, ids: ReadonlySet<string>): void {
  change(session, (now) => now.filter(({ id }) => !ids.has(id)));
}

/** One prompt of all comments, ordered by file and line, each with the line it refers to. */
export function composePrompt(comments: readonly Comment[]): string {
  const sorted = comments.toSorted(
    (a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || a.line - b.line || (a.side < b.side ? -1 : 1),
  );
  const parts = sorted.map(({ path, line, side, quote, text }, index) => {
    const where = `${path}:${line}${side === "deletions" ? " (removed line)" : ""}`;
    return `${index + 1}. ${where}\n> ${quote.trimEnd()}\n${text.trim()}`;
  });
  const opening = sorted.length === 1 ? "A comment on your changes:" : `${sorted.length} comments on your changes:`;
  return [opening, ...parts].join("\n\n");
}

function change(session: string, next: (now: readonly Comment[]) => readonly Comment[]): void {
  put(session, next(reviews.getState().bySession.get(session) ?? none));
}

function put(session: string, comments: readonly Comment[]): void {
  reviews.setState(({ bySession }) => ({ bySession: new Map(bySession).set(session, comments) }));
  storeOrWarn(reviewKey(session), comments.length === 0 ? null : JSON.stringify(comments));
}

function isComment(value: unknown): value is Comment {
  const { id, path, side, line, quote, text } = (value ?? {}) as Partial<Record<keyof Comment, unknown>>;
  return (
    [id, path, quote, text].every((part) => typeof part === "string") &&
    typeof line === "number" &&
    (side === "additions" || side === "deletions")
  );
}
