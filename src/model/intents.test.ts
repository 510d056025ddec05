/** That nothing but a verb can change an intent: what would not compile is written down as not compiling. */
import { expect, test } from "vitest";
import type { Transition, ChatStep, Store } from "../ports/store.ts";
import type { FactEvent, IntentEvent, SessionEvent, StoredEvent } from "../contract/event.ts";
import { applyVerb } from "./lifecycle.ts";
import { created, fold } from "../supervisor/facts.fixture.ts";

const forged = { type: "session.intent", want: { want: "running" }, by: "person" } as const;
const state = fold([created]);

test("[SESSION-36] an intent cannot be forged, and the store takes none as a fact", () => {
  // @ts-expect-error -- only model/lifecycle.ts makes one
  const intent: IntentEvent = forged;
  // @ts-expect-error -- nor under the wider name
  const event: SessionEvent = forged;
  const answer = applyVerb(state, { verb: "kill" }, { by: "person", agent: "down" });
  if (!answer.ok) throw new Error(answer.message);
  // @ts-expect-error -- what a verb answers is no fact, even where it is a real one
  const change: Transition = () => answer.events;
  // @ts-expect-error -- nor is what was read back from the log
  const again: Transition = () => [{ ...forged, seq: 1, at: 1 } satisfies StoredEvent];
  // @ts-expect-error -- a chat's step writes facts
  const step: ChatStep = { events: [forged] };
  // @ts-expect-error -- and so does the creation of a session
  const create: Parameters<Store["create"]> = [created, [forged]];
  // @ts-expect-error -- an intent is no fact by itself
  const fact: FactEvent = answer.events[0]!;
  // @ts-expect-error -- a copy of a real one with another want is forged too
  const copy: SessionEvent[] = answer.events.map((one) => ({ ...one, want: { want: "running" } }));
  const judge: Parameters<Store["applyVerb"]>[1] = () => answer;
  expect([intent, event, change, again, step, create, fact, copy, judge]).toHaveLength(9);
});
