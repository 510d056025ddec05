/**
 * The one fold of a session's events into what a person reads: the daemon's ready snapshot and the dashboard are made by
 * it. Takes events from the wire (`at` as ISO text) and from the store (milliseconds); the transcript has milliseconds.
 *
 * An event costs the same however long the transcript is: items stand in a map under the event that placed them, and
 * only those that a later event can still change are looked up. So a fold can be saved and taken up again with its head
 * and those few items, without the others (see `saved`).
 */
import type { StoredEvent } from "./event.ts";
import type { PromptItem, ToolItem, Transcript, TranscriptHead, TranscriptItem } from "./transcript-items.ts";

export type { Transcript, TranscriptHead, TranscriptItem } from "./transcript-items.ts";

/** An event as the API gives it, or as the store does. */
export interface TranscriptEvent {
  seq: number;
  at: number | string;
  type: string;
}

/** What one event did to the items, by their `seq`. An item that moved is removed and placed. */
export interface TranscriptChange {
  /** Placed or replaced. */
  changed: readonly number[];
  removed: readonly number[];
  /** Whether something beside the items is another than before. */
  head: boolean;
}

/** Where to look for the items that may still change; all of it is plain JSON. */
export interface TranscriptRefs {
  /** The last item: words that follow are added to it. */
  last: number | null;
  tools: [toolCallId: string, seq: number][];
  permissions: [requestId: string, seq: number][];
  prompts: [promptId: string, seq: number][];
  launch: number | null;
}

export interface SavedTranscript {
  head: TranscriptHead;
  refs: TranscriptRefs;
}

/** The newest items, or those before one. `refs` and the head let a `TranscriptBuilder` fold later events on top. */
export interface TranscriptPage extends Transcript {
  older: boolean;
  /** Items before these that later events may still change: an open question, a tool that runs. */
  pinned: TranscriptItem[];
  refs: TranscriptRefs;
}

/** Of what is saved: raised when a fold gives another result for the same events. */
export const transcriptFormat = 2;

/** Longer words go on in another item: nobody's screen, and no row of the snapshot, has to hold 100 MB of them. */
export const maxItemText = 128 * 1024;
/** A prompt may still go back to the queue when the agent that got it is gone; nothing older than these does. */
const promptMemory = 16;
/** A call that is done with may still be told of once more; without a bound, a turn of 100,000 calls would refer to all. */
const toolMemory = 100;

export function transcriptOf(events: Iterable<TranscriptEvent>): Transcript {
  const builder = new TranscriptBuilder();
  for (const event of events) builder.push(event);
  return builder.transcript();
}

/** The fold of a page, to go on with. */
export function builderOf(page: TranscriptPage): TranscriptBuilder {
  const { items, pinned, refs, older: _older, ...head } = page;
  return new TranscriptBuilder({ head, refs }, items, pinned);
}

export class TranscriptBuilder {
  readonly #items: Map<number, TranscriptItem>;
  #head: TranscriptHead;
  #last: number | null;
  readonly #tools: Map<string, number>;
  readonly #permissions: Map<string, number>;
  readonly #prompts: Map<string, number>;
  #launch: number | null;
  /** Items before this one are known and not shown: there is a gap behind them. */
  #shownFrom: number;
  #changed: number[] = [];
  #removed: number[] = [];
  #shown: Transcript | null = null;

  /** Goes on where a saved fold ended; `items` and `pinned`, in order, must hold those that its refs name. */
  constructor(
    saved: SavedTranscript | null = null,
    items: readonly TranscriptItem[] = [],
    pinned: readonly TranscriptItem[] = [],
  ) {
    const { head, refs } = saved ?? { head: emptyHead, refs: noRefs };
    this.#items = new Map([...pinned, ...items].map((item) => [item.seq, item]));
    this.#shownFrom = pinned.length === 0 ? 0 : (items[0]?.seq ?? head.seq + 1);
    this.#head = head;
    this.#last = refs.last;
    this.#tools = new Map(refs.tools);
    this.#permissions = new Map(refs.permissions);
    this.#prompts = new Map(refs.prompts);
    this.#launch = refs.launch;
  }

  get seq(): number {
    return this.#head.seq;
  }

  /** The same object until something changes. */
  transcript(): Transcript {
    if (this.#shown === null) {
      const items = [...this.#items.values()];
      const from = this.#shownFrom === 0 ? 0 : items.findIndex(({ seq }) => seq >= this.#shownFrom);
      this.#shown = { ...this.#head, items: from === -1 ? [] : from === 0 ? items : items.slice(from) };
    }
    return this.#shown;
  }

  item(seq: number): TranscriptItem | undefined {
    return this.#items.get(seq);
  }

  saved(): SavedTranscript {
    return {
      head: this.#head,
      refs: {
        last: this.#last,
        tools: [...this.#tools],
        permissions: [...this.#permissions],
        prompts: [...this.#prompts],
        launch: this.#launch,
      },
    };
  }

  /** Puts the page of items before those that are shown; what is known of one of them already is newer. */
  prepend(older: readonly TranscriptItem[]): void {
    const known = new Map([...older.map((item) => [item.seq, item] as const), ...this.#items]);
    this.#items.clear();
    for (const [seq, item] of [...known].toSorted(([a], [b]) => a - b)) this.#items.set(seq, item);
    this.#shownFrom = Math.min(this.#shownFrom, older[0]?.seq ?? 0);
    this.#shown = null;
  }

  /** Lets go of items that no later event can change; whoever keeps them has read them. */
  forgetSettled(): void {
    const kept = new Set(referred(this.saved().refs));
    for (const seq of this.#items.keys()) if (!kept.has(seq)) this.#items.delete(seq);
    this.#shown = null;
  }

  /** An event that is in the transcript already changes nothing. */
  push(event: TranscriptEvent): TranscriptChange {
    if (event.seq <= this.#head.seq) return noChange;
    const before = this.#head;
    this.#changed = [];
    this.#removed = [];
    const at = typeof event.at === "number" ? event.at : Date.parse(event.at);
    this.#fold({ ...event, at } as StoredEvent);
    const head = this.#head !== before;
    this.#head = { ...this.#head, seq: event.seq };
    this.#shown = null;
    return { changed: this.#changed, removed: this.#removed, head };
  }

  #fold(event: StoredEvent): void {
    const { seq, at } = event;
    const placed = { key: String(seq), seq, at };
    switch (event.type) {
      case "agent.text":
        return this.#words({ ...placed, item: "text", text: event.text, messageId: event.messageId ?? null });
      case "agent.thought":
        return this.#words({ ...placed, item: "thought", text: event.text });
      case "workspace.output":
        return this.#words({ ...placed, item: "workspace-output", text: event.text });
      case "tool.updated":
        return this.#tool(event);
      case "prompt.admitted": {
        const { promptId, by, attachments = [] } = event;
        const words = { attachments, by, state: "queued", edited: false, reason: null } as const;
        const prompt: PromptItem = {
          ...placed,
          key: `prompt:${promptId}`,
          item: "prompt",
          promptId,
          ...words,
          ...textOf(event),
        };
        return this.#set({ queue: [...this.#head.queue, prompt], primerUsed: true });
      }
      case "prompt.edited":
        return this.#set({
          queue: this.#head.queue.map((one) => (one.promptId === event.promptId ? edited(one, textOf(event)) : one)),
        });
      case "prompt.moved": {
        const prompt = this.#head.queue.find(({ promptId }) => promptId === event.promptId);
        if (prompt === undefined) return;
        const others = this.#head.queue.filter((one) => one !== prompt);
        return this.#set({ queue: others.toSpliced(event.position, 0, prompt) });
      }
      case "prompt.sending":
        return this.#prompt(event, { state: "sending", reason: null });
      case "prompt.sent":
        return this.#prompt(event, { state: "sent", reason: null });
      case "prompt.doubtful":
        return this.#prompt(event, { state: "doubtful", reason: event.reason });
      case "prompt.refused":
        return this.#prompt(event, { state: "refused", reason: event.reason });
      case "prompt.withdrawn":
        return this.#prompt(event, { state: "withdrawn", reason: null });
      case "prompt.requeued":
        return this.#requeued(event);
      case "turn.started":
        this.#forgetFinishedTools();
        return this.#set({
          turn: { open: true, promptId: event.promptId, startedAt: at, cancelling: false, answerMayBeLost: false },
        });
      case "turn.cancelling":
        return this.#turn({ cancelling: true });
      case "turn.ended": {
        const turn = this.#head.turn?.open === true ? this.#head.turn : null;
        const { stopReason, message = null, promptId = turn?.promptId ?? null } = event;
        this.#turn({ open: false, cancelling: false });
        this.#abandonTools();
        // After a forced end the agent may still wait for its answer.
        if (stopReason !== "forced") this.#closePermissions();
        const startedAt = turn?.startedAt ?? null;
        return this.#place({ ...placed, item: "turn-end", stopReason, message, promptId, startedAt });
      }
      case "permission.asked": {
        const { requestId, toolCallId = null, title, options } = event;
        this.#permissions.set(requestId, seq);
        const asked = { requestId, toolCallId, title, options, answer: null, open: true };
        return this.#place({ ...placed, item: "permission", ...asked });
      }
      case "permission.answered": {
        const { optionId, outcome, by } = event;
        const asked = this.#find(this.#permissions.get(event.requestId));
        this.#permissions.delete(event.requestId);
        if (asked?.item !== "permission") return;
        return this.#replace({ ...asked, answer: { optionId, outcome, by, at }, open: false });
      }
      case "context.reset":
        this.#place({ ...placed, item: "reset", reason: event.reason });
        return this.#set({ lastReset: { seq, reason: event.reason }, primerUsed: false, plan: null });
      case "primer.dismissed":
        return this.#set({ primerUsed: true });
      case "launch.started": {
        const { launch, how, attempt } = event;
        this.#launch = seq;
        const words = { launch, how, attempt, state: "starting", reason: null, lastLines: [] } as const;
        return this.#place({ ...placed, item: "launch", ...words, lastLines: [] });
      }
      case "launch.up":
        return this.#launched(event.launch, { state: "up" });
      case "launch.failed":
        return this.#launched(event.launch, { state: "failed", reason: event.reason, lastLines: event.lastLines });
      case "run.ended": {
        const { launch, how, exit, lastLines } = event;
        this.#abandonTools();
        this.#tools.clear();
        this.#closePermissions();
        return this.#place({ ...placed, item: "ended", launch, how, exit, lastLines });
      }
      case "chat.opened": {
        const { modes, models, configOptions, commands } = event;
        const opened = { modes, models, configOptions };
        return this.#set(Array.isArray(commands) ? { ...opened, commands: commands as unknown[] } : opened);
      }
      case "plan.updated":
        return this.#set({ plan: event.entries });
      case "mode.changed":
        this.#set({ modes: withCurrent(this.#head.modes, { currentModeId: event.mode }) });
        return this.#place({ ...placed, item: "mode", mode: event.mode, by: event.by });
      case "model.changed":
        this.#set({ models: withCurrent(this.#head.models, { currentModelId: event.model }) });
        return this.#place({ ...placed, item: "model", model: event.model, by: event.by });
      case "config.changed":
        if (Array.isArray(event.configOptions)) this.#set({ configOptions: event.configOptions });
        if (event.picked === undefined) return;
        return this.#place({ ...placed, item: "config", ...event.picked, by: event.by });
      case "commands.changed":
        return this.#set({ commands: event.commands });
      case "usage.updated":
        return this.#set({ usage: event.usage });
      case "auth.required":
        return this.#place({ ...placed, item: "auth", message: event.message, methods: event.methods });
      case "output.damaged":
        this.#turn({ answerMayBeLost: true });
        return this.#place({ ...placed, item: "damaged", what: event.what, bytes: event.bytes });
      case "session.converted":
        this.#turn({ open: false, cancelling: false });
        this.#closePermissions();
        return this.#place({ ...placed, item: "converted", kind: event.kind, by: event.by });
      case "notice":
        return this.#place({ ...placed, item: "notice", level: event.level, text: event.text });
      case "reaction.escalated":
        return this.#place({ ...placed, item: "notice", level: "warn", text: event.why });
      // How the session is run is not part of what was said.
      case "pull-request.seen":
      case "pull-request.lost":
      case "pull-request.claimed":
      case "issue.seen":
      case "reaction.fired":
      case "reaction.cleared":
      case "notification":
      case "notification.sent":
      case "session.created":
      case "session.intent":
      case "session.renamed":
      case "workspace.ready":
      case "workspace.trashed":
      case "workspace.restored":
      case "workspace.gone":
      case "launch.adopted":
      case "conversation.pinned":
      case "conversation.used":
      case "activity.changed":
        return;
      default:
        // What a newer daemon tells.
        event satisfies never;
    }
  }

  #words(words: Words): void {
    const last = this.#find(this.#last);
    const isSame = last?.item === words.item && (words.item !== "text" || messageOf(last) === words.messageId);
    if (isSame && last.text.length + words.text.length <= maxItemText) {
      return this.#replace({ ...last, text: last.text + words.text });
    }
    this.#place({ ...words, continued: isSame });
  }

  #tool(event: Extract<StoredEvent, { type: "tool.updated" }>): void {
    const { seq, at, type: _type, toolCallId, ...fields } = event;
    const whole = Object.fromEntries(wholeFields.filter((name) => name in fields).map((name) => [name, seq]));
    const known = this.#find(this.#tools.get(toolCallId));
    if (known?.item === "tool") {
      const abandoned = known.abandoned && fields.status === undefined;
      const { cut, ...rest } = known;
      const merged: ToolItem = { ...rest, ...fields, whole: { ...known.whole, ...whole }, abandoned };
      // Fields of before stay as short as they were; those that are new are whole.
      return this.#replace(
        cut === true && wholeFields.some((name) => !(name in whole) && name in known.whole)
          ? { ...merged, cut }
          : merged,
      );
    }
    this.#tools.set(toolCallId, seq);
    this.#forgetOldestTool();
    const empty = {
      title: null,
      kind: null,
      status: null,
      content: [],
      locations: [],
      rawInput: null,
      rawOutput: null,
    };
    this.#place({ key: String(seq), seq, at, item: "tool", toolCallId, ...empty, ...fields, whole, abandoned: false });
  }

  /** Into its place among the items, or another word about one that has it. */
  #prompt(event: { promptId: string; seq: number; at: number }, now: Pick<PromptItem, "state" | "reason">): void {
    const { promptId, seq, at } = event;
    const waiting = this.#head.queue.find((prompt) => prompt.promptId === promptId);
    if (waiting !== undefined) {
      this.#set({ queue: this.#head.queue.filter((prompt) => prompt !== waiting) });
      this.#prompts.set(promptId, seq);
      const [oldest] = this.#prompts.keys();
      if (this.#prompts.size > promptMemory && oldest !== undefined) this.#prompts.delete(oldest);
      return this.#place({ ...waiting, ...now, seq, at });
    }
    const known = this.#find(this.#prompts.get(promptId));
    if (known?.item === "prompt") this.#replace({ ...known, ...now });
  }

  #requeued({ promptId, reason }: { promptId: string; reason: string }): void {
    const back = (prompt: PromptItem): PromptItem => ({ ...prompt, state: "queued", reason });
    if (this.#head.queue.some((prompt) => prompt.promptId === promptId)) {
      const queue = this.#head.queue.map((prompt) => (prompt.promptId === promptId ? back(prompt) : prompt));
      return this.#set({ queue });
    }
    const known = this.#find(this.#prompts.get(promptId));
    if (known?.item !== "prompt") return;
    this.#prompts.delete(promptId);
    this.#items.delete(known.seq);
    this.#removed.push(known.seq);
    if (this.#last === known.seq) this.#last = null;
    this.#set({ queue: [back(known), ...this.#head.queue] });
  }

  #launched(launch: string, now: Partial<Extract<TranscriptItem, { item: "launch" }>>): void {
    const item = this.#find(this.#launch);
    if (item?.item === "launch" && item.launch === launch) this.#replace({ ...item, ...now });
  }

  /** An agent may number its calls from 1 in each turn: an id that was done with is then another call. */
  #forgetFinishedTools(): void {
    for (const [id, seq] of this.#tools) {
      const tool = this.#find(seq);
      if (tool?.item !== "tool" || isFinished(tool.status)) this.#tools.delete(id);
    }
  }

  /** One that runs goes to the end of the line. Two looks for each new call, so that those that run never add up. */
  #forgetOldestTool(): void {
    for (let looks = 0; looks < 2 && this.#tools.size > toolMemory; looks++) {
      const [oldest] = this.#tools;
      const [id, seq] = oldest!;
      const tool = this.#find(seq);
      this.#tools.delete(id);
      if (tool?.item === "tool" && !isFinished(tool.status)) this.#tools.set(id, seq);
    }
  }

  #abandonTools(): void {
    for (const seq of this.#tools.values()) {
      const tool = this.#find(seq);
      if (tool?.item === "tool" && !isFinished(tool.status) && !tool.abandoned)
        this.#replace({ ...tool, abandoned: true });
    }
  }

  #closePermissions(): void {
    for (const seq of this.#permissions.values()) {
      const asked = this.#find(seq);
      if (asked?.item === "permission") this.#replace({ ...asked, open: false });
    }
    this.#permissions.clear();
  }

  #turn(now: Partial<NonNullable<TranscriptHead["turn"]>>): void {
    const { turn } = this.#head;
    if (turn?.open === true) this.#set({ turn: { ...turn, ...now } });
  }

  #set(now: Partial<TranscriptHead>): void {
    this.#head = { ...this.#head, ...now };
  }

  #find(seq: number | null | undefined): TranscriptItem | undefined {
    return seq === null || seq === undefined ? undefined : this.#items.get(seq);
  }

  #place(item: TranscriptItem): void {
    this.#last = item.seq;
    this.#replace(item);
  }

  #replace(item: TranscriptItem): void {
    this.#items.set(item.seq, item);
    this.#changed.push(item.seq);
  }
}

/** The items that a saved fold needs to go on. */
export function referred(refs: TranscriptRefs): number[] {
  const listed = [...refs.tools, ...refs.permissions, ...refs.prompts].map(([, seq]) => seq);
  return [...new Set([...listed, refs.last, refs.launch].filter((seq) => seq !== null))].sort((a, b) => a - b);
}

type WordItem = Extract<TranscriptItem, { item: "text" | "thought" | "workspace-output" }>;
type Words = WordItem extends infer One ? (One extends WordItem ? Omit<One, "continued"> : never) : never;

const wholeFields = ["content", "rawInput", "rawOutput"] as const;

const emptyHead: TranscriptHead = {
  seq: 0,
  queue: [],
  plan: null,
  modes: null,
  models: null,
  configOptions: null,
  commands: null,
  usage: null,
  turn: null,
  lastReset: null,
  primerUsed: true,
};
const noRefs: TranscriptRefs = { last: null, tools: [], permissions: [], prompts: [], launch: null };
const noChange: TranscriptChange = { changed: [], removed: [], head: false };

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
