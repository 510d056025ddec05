/** What each event does to a transcript. An event costs the same however long the transcript is. */
import type { StoredEvent } from "../../contract/event.ts";
import type { PromptItem, ToolItem, TranscriptHead, TranscriptItem } from "../../contract/transcript.ts";
import type { TranscriptState } from "./state.ts";

/** Longer text continues in another item: no screen and no row of the snapshot should contain 100 MB. */
export const maxItemText = 128 * 1024;
/** A prompt can return to the queue when its agent is gone, but none older than these. */
const promptMemory = 16;
/** A finished call may still get an update; without a bound, a turn of 100,000 calls would keep a reference to each. */
const toolMemory = 100;

type TextItem = Extract<TranscriptItem, { item: "text" | "thought" | "workspace-output" }>;
type NewText = TextItem extends infer One ? (One extends TextItem ? Omit<One, "continued"> : never) : never;

const completeFields = ["content", "rawInput", "rawOutput"] as const;

export function reduceEvent(state: TranscriptState, event: StoredEvent): void {
  const { seq, at } = event;
  const placed = { key: String(seq), seq, at };
  // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- how the session is run is not part of the chat
  switch (event.type) {
    case "agent.text":
      return addText(state, { ...placed, item: "text", text: event.text, messageId: event.messageId ?? null });
    case "agent.thought":
      return addText(state, { ...placed, item: "thought", text: event.text });
    case "workspace.output":
      return addText(state, { ...placed, item: "workspace-output", text: event.text });
    case "tool.updated":
      return tool(state, event);
    case "prompt.admitted": {
      const { promptId, by, attachments = [] } = event;
      const queued = { state: "queued", edited: false, reason: null } as const;
      const named = { key: `prompt:${promptId}`, item: "prompt", promptId, by, attachments } as const;
      const prompt: PromptItem = { ...placed, ...named, ...queued, ...textOf(event) };
      return state.set({ queue: [...state.head.queue, prompt], primerUsed: true });
    }
    case "prompt.edited":
      return state.set({
        queue: state.head.queue.map((one) => (one.promptId === event.promptId ? edited(one, textOf(event)) : one)),
      });
    case "prompt.moved": {
      const prompt = state.head.queue.find(({ promptId }) => promptId === event.promptId);
      if (prompt === undefined) return;
      const others = state.head.queue.filter((one) => one !== prompt);
      return state.set({ queue: others.toSpliced(event.position, 0, prompt) });
    }
    case "prompt.sending":
      return prompt(state, event, { state: "sending", reason: null });
    case "prompt.sent":
      return prompt(state, event, { state: "sent", reason: null });
    case "prompt.doubtful":
      return prompt(state, event, { state: "doubtful", reason: event.reason });
    case "prompt.refused":
      return prompt(state, event, { state: "refused", reason: event.reason });
    case "prompt.withdrawn":
      return prompt(state, event, { state: "withdrawn", reason: null });
    case "prompt.requeued":
      return requeued(state, event);
    case "turn.started":
      forgetFinishedTools(state);
      return state.set({
        turn: { open: true, promptId: event.promptId, startedAt: at, cancelling: false, answerMayBeLost: false },
      });
    case "turn.cancelling":
      return changeTurn(state, { cancelling: true });
    case "turn.ended": {
      const turn = state.head.turn?.open === true ? state.head.turn : null;
      const { stopReason, message = null, promptId = turn?.promptId ?? null } = event;
      changeTurn(state, { open: false, cancelling: false });
      abandonTools(state);
      // After a forced end the agent may still wait for its answer.
      if (stopReason !== "forced") closePermissions(state);
      const startedAt = turn?.startedAt ?? null;
      return state.place({ ...placed, item: "turn-end", stopReason, message, promptId, startedAt });
    }
    case "permission.asked": {
      const { requestId, toolCallId = null, title, options } = event;
      state.permissions.set(requestId, seq);
      const asked = { requestId, toolCallId, title, options, answer: null, open: true };
      return state.place({ ...placed, item: "permission", ...asked });
    }
    case "permission.answered": {
      const { optionId, outcome, by, rule } = event;
      const asked = state.find(state.permissions.get(event.requestId));
      state.permissions.delete(event.requestId);
      if (asked?.item !== "permission") return;
      return state.replace({
        ...asked,
        answer: { optionId, outcome, by, at, ...(rule === undefined ? {} : { rule }) },
        open: false,
      });
    }
    case "context.reset":
      // The reset explains the failure of the last launch and what to do.
      if (lastLaunch(state)?.state === "failed") state.replace({ ...lastLaunch(state)!, conversationGone: true });
      state.place({ ...placed, item: "reset", reason: event.reason });
      return state.set({ lastReset: { seq, reason: event.reason }, primerUsed: false, plan: null });
    case "primer.dismissed":
      return state.set({ primerUsed: true });
    case "launch.started": {
      const { launch, how, attempt } = event;
      state.launch = seq;
      const fields = { launch, how, attempt, state: "starting", reason: null, lastLines: [] };
      return state.place({ ...placed, item: "launch", ...fields, state: "starting" });
    }
    case "launch.up":
      return launched(state, event.launch, { state: "up" });
    case "launch.failed":
      return launched(state, event.launch, { state: "failed", reason: event.reason, lastLines: event.lastLines });
    case "run.ended": {
      const { launch, how, exit, lastLines } = event;
      abandonTools(state);
      state.tools.clear();
      closePermissions(state);
      return state.place({ ...placed, item: "ended", launch, how, exit, lastLines });
    }
    case "chat.opened": {
      const { modes, models, configOptions, commands } = event;
      const opened = { modes, models, configOptions };
      return state.set(Array.isArray(commands) ? { ...opened, commands: commands as unknown[] } : opened);
    }
    case "plan.updated":
      return state.set({ plan: event.entries });
    case "mode.changed":
      state.set({ modes: withCurrent(state.head.modes, { currentModeId: event.mode }) });
      return state.place({ ...placed, item: "mode", mode: event.mode, by: event.by });
    case "model.changed":
      state.set({ models: withCurrent(state.head.models, { currentModelId: event.model }) });
      return state.place({ ...placed, item: "model", model: event.model, by: event.by });
    case "config.changed":
      if (Array.isArray(event.configOptions)) state.set({ configOptions: event.configOptions });
      if (event.picked === undefined) return;
      return state.place({ ...placed, item: "config", ...event.picked, by: event.by });
    case "commands.changed":
      return state.set({ commands: event.commands });
    case "usage.updated":
      return state.set({ usage: event.usage });
    case "auth.required":
      return state.place({ ...placed, item: "auth", message: event.message, methods: event.methods });
    case "output.damaged":
      changeTurn(state, { answerMayBeLost: true });
      return state.place({ ...placed, item: "damaged", what: event.what, bytes: event.bytes });
    case "session.converted":
      changeTurn(state, { open: false, cancelling: false });
      closePermissions(state);
      return state.place({ ...placed, item: "converted", kind: event.kind, by: event.by });
    case "session.copied":
      changeTurn(state, { open: false, cancelling: false });
      abandonTools(state);
      closePermissions(state);
      return state.place({ ...placed, item: "notice", level: "info", text: copiedText(event.original) });
    case "notice":
      return state.place({ ...placed, item: "notice", level: event.level, text: event.text });
    case "reaction.escalated":
      return state.place({ ...placed, item: "notice", level: "warn", text: event.why });
  }
}

const copiedText = (original: string): string =>
  `This home is a copy. The session's agent, worktree and conversation belong to the original, ${original}.`;

function addText(state: TranscriptState, added: NewText): void {
  const last = state.find(state.last);
  const isSame = last?.item === added.item && (added.item !== "text" || messageOf(last) === added.messageId);
  if (isSame && last.text.length + added.text.length <= maxItemText) {
    return state.replace({ ...last, text: last.text + added.text });
  }
  state.place({ ...added, continued: isSame });
}

function tool(state: TranscriptState, event: Extract<StoredEvent, { type: "tool.updated" }>): void {
  const { seq, at, type: _type, toolCallId, ...fields } = event;
  const complete = Object.fromEntries(completeFields.filter((name) => name in fields).map((name) => [name, seq]));
  const known = state.find(state.tools.get(toolCallId));
  if (known?.item === "tool") {
    const abandoned = known.abandoned && fields.status === undefined;
    const { cut, ...rest } = known;
    const merged: ToolItem = { ...rest, ...fields, whole: { ...known.whole, ...complete }, abandoned };
    // Earlier fields stay as short as they were; new ones are complete.
    return state.replace(
      cut === true && completeFields.some((name) => !(name in complete) && name in known.whole)
        ? { ...merged, cut }
        : merged,
    );
  }
  state.tools.set(toolCallId, seq);
  forgetOldestTool(state);
  const unset = { title: null, kind: null, status: null, content: [], locations: [], rawInput: null, rawOutput: null };
  const placed = { key: String(seq), seq, at, item: "tool", toolCallId } as const;
  state.place({ ...placed, ...unset, ...fields, whole: complete, abandoned: false });
}

/** Moves a queued prompt to the items, or updates one that is there. */
function prompt(
  state: TranscriptState,
  event: { promptId: string; seq: number; at: number },
  now: Pick<PromptItem, "state" | "reason">,
): void {
  const { promptId, seq, at } = event;
  const waiting = state.head.queue.find((prompt) => prompt.promptId === promptId);
  if (waiting !== undefined) {
    state.set({ queue: state.head.queue.filter((prompt) => prompt !== waiting) });
    state.prompts.set(promptId, seq);
    const [oldest] = state.prompts.keys();
    if (state.prompts.size > promptMemory && oldest !== undefined) state.prompts.delete(oldest);
    return state.place({ ...waiting, ...now, seq, at });
  }
  const known = state.find(state.prompts.get(promptId));
  if (known?.item === "prompt") state.replace({ ...known, ...now });
}

function requeued(state: TranscriptState, { promptId, reason }: { promptId: string; reason: string }): void {
  const back = (prompt: PromptItem): PromptItem => ({ ...prompt, state: "queued", reason });
  if (state.head.queue.some((prompt) => prompt.promptId === promptId)) {
    const queue = state.head.queue.map((prompt) => (prompt.promptId === promptId ? back(prompt) : prompt));
    return state.set({ queue });
  }
  const known = state.find(state.prompts.get(promptId));
  if (known?.item !== "prompt") return;
  state.prompts.delete(promptId);
  state.remove(known.seq);
  state.set({ queue: [back(known), ...state.head.queue] });
}

function launched(
  state: TranscriptState,
  launch: string,
  now: Partial<Extract<TranscriptItem, { item: "launch" }>>,
): void {
  const item = lastLaunch(state);
  if (item?.launch === launch) state.replace({ ...item, ...now });
}

function lastLaunch(state: TranscriptState): Extract<TranscriptItem, { item: "launch" }> | null {
  const item = state.find(state.launch);
  return item?.item === "launch" ? item : null;
}

/** An agent may number its calls from 1 in each turn: a finished id then means another call. */
function forgetFinishedTools(state: TranscriptState): void {
  for (const [id, seq] of state.tools) {
    const tool = state.find(seq);
    if (tool?.item !== "tool" || isFinished(tool.status)) state.tools.delete(id);
  }
}

/** A running call moves to the end. Checks two per new call, so that running calls never accumulate. */
function forgetOldestTool(state: TranscriptState): void {
  for (let checked = 0; checked < 2 && state.tools.size > toolMemory; checked++) {
    const [oldest] = state.tools;
    const [id, seq] = oldest!;
    const tool = state.find(seq);
    state.tools.delete(id);
    if (tool?.item === "tool" && !isFinished(tool.status)) state.tools.set(id, seq);
  }
}

function abandonTools(state: TranscriptState): void {
  for (const seq of state.tools.values()) {
    const tool = state.find(seq);
    if (tool?.item === "tool" && !isFinished(tool.status) && !tool.abandoned)
      state.replace({ ...tool, abandoned: true });
  }
}

function closePermissions(state: TranscriptState): void {
  for (const seq of state.permissions.values()) {
    const asked = state.find(seq);
    if (asked?.item === "permission") state.replace({ ...asked, open: false });
  }
  state.permissions.clear();
}

function changeTurn(state: TranscriptState, now: Partial<NonNullable<TranscriptHead["turn"]>>): void {
  const { turn } = state.head;
  if (turn?.open === true) state.set({ turn: { ...turn, ...now } });
}

function isFinished(status: string | null): boolean {
  return status === "completed" || status === "failed";
}

/** A prompt may be 32 MiB long, and is shown in every tab. */
function textOf({ text, seq }: { text: string; seq: number }): Pick<PromptItem, "text" | "textSeq" | "cut"> {
  if (text.length <= maxItemText) return { text, textSeq: seq };
  return { text: text.slice(0, maxItemText), textSeq: seq, cut: true };
}

function edited({ cut: _cut, ...prompt }: PromptItem, text: ReturnType<typeof textOf>): PromptItem {
  return { ...prompt, ...text, edited: true };
}

function messageOf(item: TranscriptItem): string | null {
  return item.item === "text" ? item.messageId : null;
}

function withCurrent(value: unknown, current: Record<string, string>): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value, ...current } : value;
}
