/** `session convert`: the intent to run as the other kind is on record first; the loop stops one side and begins the other. */
import type { ApiRequest } from "../ports/api.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { SessionState } from "../model/session.ts";
import type { Output } from "../contract/operations.ts";
import { commitVerb } from "../supervisor/apply-verb.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { waitUntilUp } from "../supervisor/wait-until-up.ts";
import { findSession, noticesSince, whatRemains } from "./run-verb.ts";
import { sessionJson } from "../supervisor/view.ts";

/** After this the answer lists what remains; the daemon continues to convert. */
const stopWaitMs = 15_000;

export async function convert(parts: Services, loop: Loop, ask: ApiRequest<"convert">): Promise<Output<"convert">> {
  const { kind, fresh = false, wait = true } = ask.input;
  const session = findSession(parts, ask);
  const agent = parts.agents.of(session);
  if (agent === null || agent[kind] === null)
    throw new HoldfastError("invalid", `${session.agent} has no ${kind} kind.`);
  const handsOver = agent.handsOver === true;
  const asked = await commitVerb(parts, loop, session, { verb: "convert", kind, fresh, handsOver }, ask.actor);
  loop.asked(session.id);
  if (!wait) return { session: sessionJson(parts, loop, asked), remaining: [], done: false, notes: [] };
  const latest = (): SessionState => parts.store.session(session.id) ?? asked;
  await loop.waitFor(session.id, () => !isPending(latest()), stopWaitMs, ask.signal);
  const state = latest();
  if (state.intent.want !== "running") throw takenBack(state, kind);
  if (isPending(state)) {
    const json = sessionJson(parts, loop, state);
    return { session: json, done: false, ...whatRemains(loop, state, json) };
  }
  const json = await waitUntilUp(parts, loop, { ...state, seq: state.intent.seq }, ask.signal);
  const notes = fresh && session.kind === "chat" ? noticesSince(parts, session) : [];
  return { session: json, remaining: [], done: true, notes };
}

function isPending({ intent }: SessionState): boolean {
  return intent.want === "running" && intent.convert !== undefined;
}

/** You, or a policy of yours, decided otherwise while it was being stopped. */
function takenBack({ id, intent, kind: is }: SessionState, kind: string): HoldfastError {
  const message = is === kind ? `it was ${intent.want} before its agent ran` : `it was ${intent.want} in the meantime`;
  return new HoldfastError("conflict", `${message} and stays ${intent.want}.`, {
    hint: `See holdfast session show ${id}.`,
  });
}
