/** Prompts, answers, cancels and settings for a running agent. Each is stored before it is sent. */
import { randomUUID } from "node:crypto";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import type { Answered, CancelResult, ConfigureResult, ChatStore, PromptCapabilities } from "../ports/chat.ts";
import type { PromptToSend, SendResult } from "../ports/runtime.ts";
import type { ChatStep, LaunchOffsets } from "../ports/store.ts";
import {
  answerKey,
  notificationLine,
  settingKey,
  promptKey,
  requestLine,
  resultLine,
  type AgentSetting,
} from "../contract/acp.ts";
import type { Actor, LaunchId, PromptId } from "../contract/ids.ts";
import { agentIdOf } from "../contract/permission-request.ts";
import type { SessionState } from "../model/session.ts";
import { awaitOutput, canReceive, flush, isGone, record, sendRequest } from "./client.ts";
import type { AcpContext } from "./context.ts";
import { settingRequest } from "./handshake.ts";
import { isFed, type AgentProcess } from "./agent-process.ts";
import { pathToFileURL } from "node:url";

const damagedInput = "the agent's input was changed by another process; nothing was written";
const notFed = "the agent's feeder is gone; restarting the agent";

export async function sendPrompt(context: AcpContext, proc: AgentProcess, prompt: PromptToSend): Promise<SendResult> {
  const { store } = context;
  const { launch, session } = proc;
  const key = promptKey(prompt.promptId);
  if (store.inputRow(launch, key) === null) {
    const fed = isFed(proc);
    if (!canReceive(context, proc)) return { sent: "not-now", why: fed ? damagedInput : notFed };
    const can = promptCapabilities(store, launch);
    const refusal = reasonNotToTake(prompt, can);
    if (refusal !== null) return { sent: "refused", why: refusal };
    const content = promptBlocks(prompt, can);
    let why: string | null = null;
    await store.chat(session, launch, (state, place) => {
      why = reasonNotToSend(state, place, launch);
      return why === null
        ? { ...promptStep(state, launch, key, prompt.promptId, content), appendedTo: proc.appendedTo }
        : null;
    });
    if (why !== null) return { sent: "not-now", why };
  }
  proc.turnOpen = true;
  // Stored: from here on its line is completed after any crash, and never sent twice.
  if ((await flush(context, proc)) && !proc.feederGone) return { sent: "seen", by: "in" };
  // The input was damaged, or its feeder died, just now: no response will come, so the turn ends here. A daemon that lost
  // its lock changes nothing: the next one completes the line.
  const never = context.stillOurs() && !canReceive(context, proc);
  await store.chat(session, launch, ({ turn }) =>
    never && turn.turn === "open" && turn.prompt === prompt.promptId
      ? { events: [{ type: "turn.ended", stopReason: "error", promptId: prompt.promptId, message: damagedInput }] }
      : null,
  );
  return { sent: "doubtful", why: damagedInput };
}

function reasonNotToSend(state: SessionState, place: LaunchOffsets | null, launch: LaunchId): string | null {
  if (place === null || !isCurrent(state, launch)) return "the agent was replaced";
  if (state.intent.want !== "running") return `the session was ${state.intent.want} meanwhile`;
  if (state.agentSessionId === null) return "the conversation is not open yet";
  return state.turn.turn === "open" && state.turn.prompt !== null ? "a turn is in progress" : null;
}

function promptStep(
  state: SessionState,
  launch: LaunchId,
  key: string,
  promptId: PromptId,
  prompt: ContentBlock[],
): ChatStep {
  const params = { sessionId: state.agentSessionId, prompt };
  return {
    events: [
      // A turn that the agent started itself has no response that could end it.
      ...(state.turn.turn === "open" ? [{ type: "turn.ended" as const, stopReason: "quiet", promptId: null }] : []),
      { type: "prompt.sent", promptId, seenBy: "in" },
      { type: "turn.started", promptId },
    ],
    lines: [{ key, text: requestLine(launch, key, "session/prompt", params) }],
  };
}

export async function answerPermission(
  context: AcpContext,
  proc: AgentProcess,
  requestId: string,
  optionId: string,
  by: Actor,
): Promise<Answered> {
  const { launch, session } = proc;
  let outcome: Answered = { answered: false, why: "not-open" };
  // Such an agent is replaced, and its permission requests are closed.
  if (!canReceive(context, proc)) return outcome;
  await context.store.chat(session, launch, (state, place) => {
    const open = state.permissions.find((one) => one.requestId === requestId);
    const agentRequest = open === undefined ? undefined : agentIdOf(launch, open);
    if (open === undefined || agentRequest === undefined || place === null || !isCurrent(state, launch)) {
      outcome = { answered: false, why: "not-open" };
      return null;
    }
    if (!open.options.some((option) => option.optionId === optionId)) {
      outcome = { answered: false, why: "no-such-option" };
      return null;
    }
    outcome = { answered: true };
    return {
      events: [{ type: "permission.answered", requestId, optionId, outcome: "selected", by }],
      lines: [
        {
          key: answerKey(agentRequest, place.inEnd),
          text: resultLine(agentRequest, { outcome: { outcome: "selected", optionId } }),
        },
      ],
    };
  });
  if (outcome.answered) await flush(context, proc);
  return outcome;
}

/** Open permission requests are answered with `cancelled`, as the protocol requires: some agents end the turn only then. */
export async function cancelTurn(
  context: AcpContext,
  proc: AgentProcess,
  { by, waitMs }: { by: Actor; waitMs: number },
): Promise<CancelResult> {
  const { launch, session } = proc;
  let startedAt: number | null = null;
  await context.store.chat(session, launch, (state, place) => {
    startedAt = state.turn.turn === "open" && isCurrent(state, launch) ? state.turn.startedAt : null;
    return startedAt === null || place === null ? null : cancelStep(state, place, by);
  });
  if (startedAt === null) return { cancelled: "no-turn" };
  if (!(await flush(context, proc))) return { cancelled: "not-sent", why: "the agent's input could not be written" };
  const ended = (): string | null => {
    const turn = context.store.session(session)?.turn;
    if (turn === undefined || turn.turn === "none") return "";
    if (turn.turn === "ended") return turn.stopReason;
    return turn.startedAt === startedAt ? null : "";
  };
  const outcome = await awaitOutput(context, proc, waitMs, (): CancelResult | null => {
    const stopReason = ended();
    if (stopReason !== null) return { cancelled: "ended", stopReason };
    return isGone(proc) ? { cancelled: "not-yet" } : null;
  });
  return outcome ?? { cancelled: "not-yet" };
}

function cancelStep(state: SessionState, { launch, inEnd }: LaunchOffsets, by: Actor): ChatStep {
  const answers = state.permissions.flatMap((open) => {
    const agentRequest = agentIdOf(launch, open);
    return agentRequest === undefined ? [] : [{ requestId: open.requestId, agentRequest }];
  });
  return {
    events: [
      { type: "turn.cancelling", by },
      ...answers.map(({ requestId }) => ({
        type: "permission.answered" as const,
        requestId,
        optionId: null,
        outcome: "cancelled" as const,
        by,
      })),
    ],
    lines: [
      {
        key: `cancel:${randomUUID()}`,
        text: notificationLine("session/cancel", { sessionId: state.agentSessionId }),
      },
      ...answers.map(({ agentRequest }) => ({
        key: answerKey(agentRequest, inEnd),
        text: resultLine(agentRequest, { outcome: { outcome: "cancelled" } }),
      })),
    ],
  };
}

export async function endTurn(context: AcpContext, proc: AgentProcess, by: Actor): Promise<boolean> {
  let ended = false;
  await context.store.chat(proc.session, proc.launch, (state) => {
    ended = state.turn.turn === "open";
    if (state.turn.turn !== "open") return null;
    return {
      events: [{ type: "turn.ended", stopReason: "forced", promptId: state.turn.prompt, message: `ended by ${by}` }],
    };
  });
  if (ended) proc.turnOpen = false;
  return ended;
}

export async function configure(
  context: AcpContext,
  proc: AgentProcess,
  pick: AgentSetting,
  by: Actor,
): Promise<ConfigureResult> {
  const agentSessionId = context.store.session(proc.session)?.agentSessionId ?? null;
  if (agentSessionId === null) return { applied: false, why: "the conversation is not open yet" };
  const request = settingRequest(agentSessionId, pick, settingKey(pick, by, randomUUID()));
  const answer = await sendRequest(context, proc, { ...request, deadlineMs: context.deadlines.configureMs });
  if (answer.is === "result") return { applied: true };
  if (answer.is === "error") return { applied: false, why: answer.message };
  return { applied: false, why: answer.is === "late" ? "the agent did not answer in time" : "the agent has ended" };
}

function isCurrent(state: SessionState, launch: LaunchId): boolean {
  return (state.run.run === "up" || state.run.run === "launching") && state.run.launch === launch;
}

/** Null before the agent has responded to `initialize`. A capability that it does not list is missing. */
export function promptCapabilities(store: ChatStore, launch: LaunchId): PromptCapabilities | null {
  const answer = store.inputRow(launch, "init")?.answer ?? null;
  if (answer === null) return null;
  const { result } = JSON.parse(answer) as { result?: unknown };
  const { image, embeddedContext } = record(record(record(result)["agentCapabilities"])["promptCapabilities"]);
  return { image: image === true, embeddedContext: embeddedContext === true };
}

function promptBlocks(prompt: PromptToSend, can: PromptCapabilities | null): ContentBlock[] {
  return [
    { type: "text", text: prompt.text },
    ...(prompt.attachments ?? []).map((attachment): ContentBlock => {
      if (attachment.type === "image") {
        return { type: "image", mimeType: attachment.mimeType, data: Buffer.from(attachment.bytes).toString("base64") };
      }
      const { path, name, text } = attachment;
      const uri = pathToFileURL(path).href;
      // Every agent supports links; the selected text is embedded if the agent supports that.
      if (text === null || can?.embeddedContext !== true) return { type: "resource_link", uri, name };
      return { type: "resource", resource: { uri, text, mimeType: "text/plain" } };
    }),
  ];
}

/** Null if the agent supports all of it. */
function reasonNotToTake(prompt: PromptToSend, can: PromptCapabilities | null): string | null {
  const hasImage = prompt.attachments?.some(({ type }) => type === "image") ?? false;
  return hasImage && can !== null && !can.image ? "this agent takes no images" : null;
}
