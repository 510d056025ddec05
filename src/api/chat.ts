/** What a person does with a chat session beyond the verbs: answer, cancel, end a turn, pick, edit what waits. */
import { chatActivity } from "../model/status.ts";
import type { ApiRequest } from "../ports/api.ts";
import { HoldfastError } from "../contract/errors.ts";
import { asPromptId, type PermissionOption } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { optionKindWords } from "../model/tool-call.ts";
import type { Input, Output } from "../contract/operations.ts";
import type { WorkerJson } from "../contract/chat.ts";
import { checkMayPrompt } from "./authorize.ts";
import { commitVerb } from "../supervisor/apply-verb.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { recapOf } from "./recap-events.ts";
import { promptToSend } from "../supervisor/execute/prompts.ts";
import { findPermissionRequest } from "../supervisor/permission-requests.ts";
import { waitUntilUp } from "../supervisor/wait-until-up.ts";
import { findSession, noticesSince, runVerb, whatRemains, type Named } from "./run-verb.ts";
import { iso, sessionJson } from "../supervisor/view.ts";

/** Real agents end a cancelled turn within half a second; one that does not is told of, and may be ended by force. */
const cancelWaitMs = 10_000;
const defaultLogLines = 100;

export function findChat(parts: Services, ask: Named): SessionState {
  const session = findSession(parts, ask);
  if (session.kind === "chat") return session;
  throw new HoldfastError("conflict", `${session.id} is a terminal session.`, {
    hint: `Use its screen: holdfast attach ${session.id}`,
  });
}

export async function answer(parts: Services, loop: Loop, ask: ApiRequest<"answer">): Promise<Output<"answer">> {
  const request = ask.input;
  const session = findChat(parts, ask);
  const open = findPermissionRequest(session, request.requestId);
  if (open === null) {
    return {
      answered: false,
      reason:
        request.requestId === undefined
          ? "No permission request is open."
          : "It was answered already, or its agent is gone.",
    };
  }
  const option = chooseOption(open.options, request);
  const result = await parts.runtimes.chat.answer(session, open.requestId, option, ask.actor);
  loop.asked(session.id);
  if (result.answered) return { answered: true, reason: null };
  return {
    answered: false,
    reason:
      result.why === "not-open" ? "It was answered already, or its agent is gone." : `There is no option ${option}.`,
  };
}

/** Agents order and name their options as they like; what an option means is its kind. */
function chooseOption(options: PermissionOption[], request: Input<"answer">): string {
  if (request.optionId !== undefined) return request.optionId;
  const kinds = {
    // "Always" is more than was asked for.
    allow: ["allow_once"],
    allow_always: ["allow_always"],
    deny: ["reject_once", "reject_always"],
  };
  const wanted = kinds[request.answer ?? "allow"];
  const found = wanted
    .map((kind) => options.find((option) => option.kind === kind))
    .find((option) => option !== undefined);
  if (found !== undefined) return found.optionId;
  const meaning = { allow: "allows it once", allow_always: "allows it always", deny: "rejects it" };
  throw new HoldfastError("invalid", `The agent offers nothing that ${meaning[request.answer ?? "allow"]}.`, {
    hint: `It offers: ${options.map(({ name, kind }) => `${optionKindWords(kind)} (${name})`).join(", ")}.`,
  });
}

export async function cancel(parts: Services, ask: ApiRequest<"cancel">): Promise<Output<"cancel">> {
  const session = findChat(parts, ask);
  const result = await parts.runtimes.chat.cancel(session, { by: ask.actor, waitMs: cancelWaitMs });
  switch (result.cancelled) {
    case "ended":
      return { cancelled: true, stopReason: result.stopReason, reason: null };
    case "no-turn":
      return { cancelled: false, stopReason: null, reason: "No turn is in flight." };
    case "not-yet":
      return {
        cancelled: false,
        stopReason: null,
        reason: `The agent was asked and has not ended its turn yet. By force: holdfast acp end-turn ${session.id}`,
      };
    case "not-sent":
      return { cancelled: false, stopReason: null, reason: result.why };
    default:
      return result satisfies never;
  }
}

export async function endTurn(parts: Services, loop: Loop, ask: ApiRequest<"endTurn">): Promise<Output<"endTurn">> {
  const session = findChat(parts, ask);
  if (session.turn.turn !== "open") {
    throw new HoldfastError("conflict", "No turn is in flight.", { hint: `See holdfast acp history ${session.id}` });
  }
  await parts.runtimes.chat.endTurn(session, ask.actor);
  loop.asked(session.id);
  return sessionJson(parts, loop, parts.store.session(session.id) ?? session);
}

export async function configure(
  parts: Services,
  loop: Loop,
  ask: ApiRequest<"configure">,
): Promise<Output<"configure">> {
  const { mode, model, option } = ask.input;
  const session = findChat(parts, ask);
  const picks = [
    ...(mode === undefined ? [] : [{ set: "mode" as const, value: mode }]),
    ...(model === undefined ? [] : [{ set: "model" as const, value: model }]),
    ...(option === undefined ? [] : [{ set: "config" as const, id: option.id, value: option.value }]),
  ];
  for (const pick of picks) {
    const told = await parts.runtimes.chat.configure(session, pick, ask.actor);
    if (!told.applied) throw new HoldfastError("conflict", `The agent did not take it: ${told.why}`);
  }
  return sessionJson(parts, loop, parts.store.session(session.id) ?? session);
}

export function workers(parts: Services, loop: Loop): WorkerJson[] {
  return parts.store.sessions().flatMap((session) => {
    const seen = loop.observation(session)?.seen;
    if (session.kind !== "chat" || seen?.is !== "known" || !seen.value.agent.alive) return [];
    const { agent, processes, build, stale = false } = seen.value;
    const started = processes.find(({ what }) => what === "agent")?.startedAt ?? 0;
    return [
      {
        pid: agent.identity.pid,
        session: session.id,
        agent: session.agent,
        state: chatActivity(session),
        build: build ?? "",
        stale,
        detached: !processes.some(({ what }) => what === "keeper"),
        startedAt: iso(started),
      },
    ];
  });
}

export function errorLog(parts: Services, ask: ApiRequest<"acpLogs">): Output<"acpLogs"> {
  const lines = Number(ask.query.lines ?? defaultLogLines);
  if (!(lines > 0)) throw new HoldfastError("usage", "`lines` is a whole number above 0.");
  return { lines: parts.runtimes.chat.errorLines(findChat(parts, ask), lines) };
}

export function primer(parts: Services, ask: ApiRequest<"primer">): Output<"primer"> {
  const session = findChat(parts, ask);
  const before = Number(ask.query.before_seq ?? session.seq + 1);
  if (!Number.isSafeInteger(before) || before < 0) throw new HoldfastError("usage", "`before_seq` is a whole number.");
  return recapOf(parts.store, session.id, before);
}

/** In the log, so that no other tab and no later visit offers it again. */
export async function dismissPrimer(
  parts: Services,
  loop: Loop,
  ask: ApiRequest<"primerDismiss">,
): Promise<Output<"primerDismiss">> {
  const { id } = findChat(parts, ask);
  return sessionJson(parts, loop, await parts.store.commit(id, () => [{ type: "primer.dismissed", by: ask.actor }]));
}

export function queue(parts: Services, session: SessionState): Output<"queue"> {
  return {
    prompts: session.queue.map(({ promptId, state, admittedAt }) => {
      const { text, attachments } = promptToSend(parts, session, promptId);
      return {
        promptId,
        text,
        state,
        admittedAt: iso(admittedAt),
        attachments: attachments.map((one) => ({ ...one })),
      };
    }),
  };
}

export function attachment(parts: Services, ask: ApiRequest<"attachment">): Output<"attachment"> {
  const { id } = findSession(parts, ask);
  const promptId = asPromptId(ask.params.prompt);
  const n = Number(ask.params.n);
  const { type, mimeType = null } = parts.store.prompt(id, promptId)?.attachments[n] ?? {};
  const bytes = type === "image" ? parts.store.attachment(id, promptId, n) : null;
  if (bytes !== null && mimeType !== null) return { mimeType, bytes };
  throw new HoldfastError("not-found", "That prompt has no such image.");
}

export async function editPrompt(
  parts: Services,
  loop: Loop,
  ask: ApiRequest<"promptEdit">,
): Promise<Output<"promptEdit">> {
  const { text, position, withdraw = false } = ask.input;
  const promptId = asPromptId(ask.params.prompt);
  const session = findSession(parts, ask);
  checkMayPrompt(parts, session, ask);
  const state = await parts.store.commit(session.id, (now) => {
    const waiting = now.queue.find((prompt) => prompt.promptId === promptId);
    if (waiting?.state !== "queued") {
      throw new HoldfastError("conflict", "That prompt is no longer queued.", {
        hint: "Sent prompts cannot be changed.",
      });
    }
    if (withdraw) return [{ type: "prompt.withdrawn", promptId, by: ask.actor }];
    return [
      ...(text === undefined ? [] : [{ type: "prompt.edited" as const, promptId, text, by: ask.actor }]),
      ...(position === undefined ? [] : [{ type: "prompt.moved" as const, promptId, position, by: ask.actor }]),
    ];
  });
  loop.asked(session.id);
  return queue(parts, state);
}

export async function restartAgent(
  parts: Services,
  loop: Loop,
  ask: ApiRequest<"acpRestart">,
): Promise<Output<"acpRestart">> {
  const session = findChat(parts, ask);
  if (session.run.run !== "up") {
    throw new HoldfastError("conflict", "The agent is not running.", {
      hint: `Bring it back: holdfast session restore ${session.id}`,
    });
  }
  const { launch } = session.run;
  const latest = (): SessionState => parts.store.session(session.id) ?? session;
  const isReplaced = (): boolean => {
    const { run } = latest();
    return run.run !== "up" || run.launch !== launch;
  };
  loop.restart(session.id, launch);
  if (!(await loop.waitFor(session.id, isReplaced, cancelWaitMs, ask.signal))) {
    const json = sessionJson(parts, loop, latest());
    return { session: json, done: false, ...whatRemains(loop, latest(), json) };
  }
  const json = await waitUntilUp(parts, loop, latest(), ask.signal);
  return { session: json, remaining: [], done: true, notes: noticesSince(parts, session) };
}

/** The same intent as a stop; only less time is given. */
export async function killAgent(parts: Services, loop: Loop, ask: ApiRequest<"acpKill">): Promise<Output<"acpKill">> {
  const session = findChat(parts, ask);
  const state = await commitVerb(parts, loop, session, { verb: "stop" }, ask.actor);
  await parts.runtimes.chat.stop(state, { force: true, deadlineMs: cancelWaitMs });
  return runVerb(parts, loop, { verb: "stop" }, { ...ask, input: {} });
}
