/** Hands a session's conversation over to the other kind: one side is fully stopped before the other begins. */
import type { Ask } from "../ports/commands.ts";
import type { ConvertRequest } from "../protocol/command.ts";
import { HoldfastError } from "../protocol/error.ts";
import type { SessionState } from "../protocol/session.ts";
import type { Answers } from "../protocol/wire.ts";
import { change } from "./change.ts";
import { forgetConversation } from "./forget-conversation.ts";
import type { Loop } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { settled } from "./settled.ts";
import { findSession, noticesSince } from "./verbs.ts";

const stopWaitMs = 15_000;

export async function convert(parts: Parts, loop: Loop, ask: Ask): Promise<Answers["convert"]> {
  const { kind, fresh = false } = ask.body as ConvertRequest;
  const session = findSession(parts, ask);
  refuse(parts, session, kind, fresh);
  const isDown = (): boolean => {
    const run = parts.store.session(session.id)?.run.run;
    return run !== "up" && run !== "launching" && !loop.isBusy(session.id);
  };
  // Only the living agent can delete its copy, and only a conversation that is discarded may be deleted.
  const discards = fresh && session.kind === "chat";
  const asked = discards ? await parts.runtimes.chat.deleteConversation(session) : null;
  await change(parts, loop, session, { verb: "stop" }, ask.actor);
  loop.asked(session.id);
  if (!(await loop.waitFor(session.id, isDown, stopWaitMs))) {
    throw new HoldfastError("conflict", `${session.id} has not stopped yet; nothing was converted.`, {
      hint: `It is being stopped: see holdfast session show ${session.id}, then try again.`,
    });
  }
  if (asked !== null) await forgetConversation(parts, session, asked);
  const state = await parts.store.change(session.id, (now) => [
    { type: "session.converted", kind, by: ask.actor },
    ...(fresh
      ? [{ type: "context.reset" as const, reason: "asked for with --fresh", previous: now.agentSessionId }]
      : []),
    { type: "session.intent", want: { want: "running" }, by: ask.actor },
  ]);
  loop.asked(session.id);
  const json = await settled(parts, loop, state, ask.signal);
  return { session: json, remaining: [], done: true, notes: discards ? noticesSince(parts, session) : [] };
}

function refuse(parts: Parts, session: SessionState, kind: SessionState["kind"], fresh: boolean): void {
  if (session.intent.want === "killed") {
    throw new HoldfastError("conflict", "Session was killed", {
      hint: `Bring it back first: holdfast session restore ${session.id}`,
    });
  }
  if (session.kind === kind) throw new HoldfastError("conflict", `${session.id} is a ${kind} session already.`);
  const agent = parts.agents.get(session.agent);
  if (agent === null || agent[kind] === null)
    throw new HoldfastError("invalid", `${session.agent} has no ${kind} kind.`);
  if (fresh || agent.handsOver === true || !session.prompted) return;
  throw new HoldfastError("conflict", `${agent.label} cannot hand its conversation over to the other kind.`, {
    hint: "With --fresh the conversation is discarded and a new one begins.",
  });
}
