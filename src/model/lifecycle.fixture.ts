/** For tests of verbs: states, and expected results. */
import { expect } from "vitest";
import type { SessionEvent } from "../contract/event.ts";
import { asPromptId, type Want } from "../contract/ids.ts";
import type { SessionState } from "./session.ts";
import { applyVerb, type Verb, type VerbResult, type VerbContext } from "./lifecycle.ts";
import { created, ended, intent, ready, started, t0, trashed, up } from "../supervisor/facts.fixture.ts";

export const until = t0 + 60_000;
export const person: VerbContext = { by: "person", agent: "down" };
export const upNow = [created, ready, started, up];
export const states = {
  running: upNow,
  stopped: [...upNow, intent({ want: "stopped" })],
  snoozed: [...upNow, intent({ want: "snoozed", until })],
  archived: [...upNow, intent({ want: "archived" })],
  killed: [...upNow, ended("stopped"), intent({ want: "killed" }), trashed],
  deleted: [...upNow, ended("stopped"), intent({ want: "deleted" }), trashed],
} satisfies Record<string, SessionEvent[]>;
export type StateName = keyof typeof states;

/** What is expected, without the sequence: every answer has that of the state it was judged against. */
export type Expected = { ok: true; events: readonly SessionEvent[] } | Extract<VerbResult, { ok: false }>;
export const wants = (want: Want): Expected => ({ ok: true, events: [intent(want)] });
export const running = wants({ want: "running" });
export const nothing: Expected = { ok: true, events: [] };

/** Judges, and checks that the answer names the state it is for. */
export function judge(state: SessionState | null, verb: Verb, context: VerbContext): Expected {
  const answer = applyVerb(state, verb, context);
  if (!answer.ok) return answer;
  const { seq, ...rest } = answer;
  expect(seq).toBe(state?.seq);
  return rest;
}
export const refused = (
  message: string,
  hint: string | null,
  code: "conflict" | "not-found" = "conflict",
): Expected => ({
  ok: false,
  code,
  message,
  hint,
  ...(code === "not-found" ? { reason: "session-not-found" } : {}),
  ...(message.startsWith("Cannot ") ? { reason: "verb-refused" } : {}),
});
export const notFound = refused(
  "Session not found",
  "List sessions: holdfast session ls --include-terminated",
  "not-found",
);
export const backBy = (verb: string): string => `Bring it back first: holdfast session ${verb} ma-1`;
export const killedFirst = (verb: string): Expected => refused(`Cannot ${verb}: Session was killed`, backBy("restore"));
export const admitted: SessionEvent = {
  type: "prompt.admitted",
  promptId: asPromptId("p-1"),
  text: "hello",
  by: "person",
};
export const prompt: Verb = { verb: "prompt", promptId: asPromptId("p-1"), text: "hello" };
export const converting = wants({ want: "running", convert: { kind: "chat", fresh: false } });
export const renamed: Expected = { ok: true, events: [{ type: "session.renamed", title: "new", by: "person" }] };
