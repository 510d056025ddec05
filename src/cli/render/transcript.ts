/**
 * A chat's transcript as text. The reducer creates the items; this prints their changes as they arrive. Agents send
 * text in pieces that may end in the middle of a line, so the result is written as is. Text in brackets is Holdfast's.
 */
import { requestName } from "../../contract/permission-request.ts";
import type { PermissionItem, PromptItem, ToolItem, TranscriptItem } from "../../contract/transcript.ts";
import type { EventJson } from "../../contract/stream.ts";
import { shorten } from "../../model/text.ts";
import { callDetails } from "../../model/tool-call.ts";
import { TranscriptBuilder } from "../../model/transcript/builder.ts";
import { stopLabel } from "../../model/transcript/item-text.ts";
import { type Paint, clean, inert } from "./text.ts";
import { answeredBy, optionText, requestLines } from "./permission-request.ts";

export type OpenRequest = Pick<PermissionItem, "requestId" | "title" | "options">;

/** Some agents use complete commands as titles; `events --json` has the rest. Permission requests are never cut. */
const maxTitle = 200;

type Spoken = Extract<TranscriptItem, { item: "prompt" | "text" | "thought" | "tool" | "permission" }>;
type Remark = Exclude<TranscriptItem, Spoken>;

/** What is printed of an item so far. */
interface Printed {
  /** Characters of a text. */
  length: number;
  /** The title of a tool call, and whether with its failure. */
  title: string | null;
  failed: boolean;
  answered: boolean;
}

export class Transcript {
  readonly #paint: Paint;
  readonly #showOptions: boolean;
  readonly #builder = new TranscriptBuilder();
  readonly #printed = new Map<string, Printed>();
  /** The text that the last line belongs to, if more of it would continue that line. */
  #block: string | null = null;
  #midLine = false;
  #empty = true;

  /** `showOptions`: false if the keys for them are shown instead. */
  constructor(paint: Paint, showOptions = true) {
    this.#paint = paint;
    this.#showOptions = showOptions;
  }

  get turnOpen(): boolean {
    return this.#builder.head.turn?.open === true;
  }

  /** Unanswered permission requests, oldest first. */
  get questions(): OpenRequest[] {
    return this.#builder.openPermissions();
  }

  /** The text that this event adds; `echoed` prompts are on the screen already. */
  take(event: EventJson, echoed?: ReadonlySet<string>): string {
    const { changed } = this.#builder.push(event);
    if (event.type === "prompt.requeued") this.#printed.delete(`prompt:${String(event["promptId"])}`);
    const items = changed.map((seq) => this.#item(this.#builder.item(seq)!, echoed)).join("");
    if (event.type === "turn.ended") this.#builder.forgetSettled();
    return items + this.#moment(event, changed.length > 0);
  }

  /** Adds past events, and returns the text of the items from `from` on, each as it ended. */
  replay({ events, from }: { events: readonly EventJson[]; from: number }): string {
    const moments = events.flatMap((event) => {
      const { changed } = this.#builder.push(event);
      return event.seq >= from ? [{ seq: event.seq, text: () => this.#moment(event, changed.length > 0) }] : [];
    });
    const items = this.#builder.transcript().items.map((item) => ({ seq: item.seq, text: () => this.#item(item) }));
    // Items before `from` count as printed too.
    for (const item of items) if (item.seq < from) item.text();
    this.#close();
    this.#empty = true;
    const shown = [...items.filter(({ seq }) => seq >= from), ...moments].sort((a, b) => a.seq - b.seq);
    return shown.map(({ text }) => text()).join("");
  }

  /** Ends an open line, and lists the queued prompts. */
  end(): string {
    const queued = this.#builder.head.queue.map(({ text }) => `${this.#paint.dim(`[queued] ${short(text)}`)}\n`);
    return this.#close() + queued.join("");
  }

  /** Lines for events that are not items: they change the turn, the plan or the queue. */
  #moment(event: EventJson, hasItems: boolean): string {
    const { dim, yellow, bold } = this.#paint;
    if (event.type === "turn.cancelling") return this.#line(dim(`[cancelling] by ${short(event.by)}`));
    if (event.type === "plan.updated") return this.#line(dim(`[plan] ${planOf(event.entries)}`));
    if (event.type === "prompt.requeued") return this.#line(yellow(`[queued again] ${short(event.reason)}`));
    // Queued before the first event that was read.
    if (event.type === "prompt.sent" && !hasItems) return this.#line(bold("> (an earlier prompt)"));
    return "";
  }

  #item(item: TranscriptItem, echoed?: ReadonlySet<string>): string {
    const printed = this.#printed.get(item.key);
    if (item.item === "tool") return this.#tool(item, printed);
    if (item.item === "prompt") {
      if (printed !== undefined || !isSettled(item)) return "";
      this.#remember(item, {});
      return this.#prompt(item, echoed);
    }
    if (item.item === "text" || item.item === "thought") {
      const fresh = (item.text ?? "").slice(printed?.length ?? 0);
      this.#remember(item, { length: (printed?.length ?? 0) + fresh.length });
      return item.item === "text"
        ? this.#text(`text ${item.messageId ?? ""}`, "", fresh, (text) => text)
        : this.#text("thought", "~ ", fresh, this.#paint.dim);
    }
    if (item.item === "permission") {
      const question = printed === undefined ? this.#line(this.#question(item)) : "";
      const isNews = item.answer !== null && printed?.answered !== true;
      this.#remember(item, { answered: item.answer !== null });
      return question + (isNews ? this.#line(this.#paint.yellow(answerLine(item))) : "");
    }
    const line = printed === undefined ? this.#remark(item) : null;
    if (line === null) return "";
    this.#remember(item, {});
    return this.#line(line);
  }

  #remember({ key }: TranscriptItem, now: Partial<Printed>): void {
    this.#printed.set(key, { length: 0, title: null, failed: false, answered: false, ...now });
  }

  #prompt({ promptId, text, attachments, state, reason }: PromptItem, echoed?: ReadonlySet<string>): string {
    const outcome = state === "doubtful" ? "it may not have arrived" : "not sent";
    const remark = state === "sent" ? "" : `${this.#paint.yellow(`[${outcome}] ${short(reason)}`)}\n`;
    if (echoed?.has(promptId) === true) return this.#close() + remark;
    const lines = [...inert(text).trimEnd().split("\n"), ...attachments.map(({ name }) => `[${short(name)}]`)];
    const gap = this.#empty ? "" : "\n";
    this.#empty = false;
    return this.#close() + gap + lines.map((line) => `${this.#paint.bold(`> ${line}`)}\n`).join("") + remark;
  }

  #text(block: string, prefix: string, added: string, paint: (text: string) => string): string {
    const begins = this.#block !== block;
    const text = begins ? inert(added).replace(/^\n+/, "") : inert(added);
    if (text === "") return "";
    let written = begins ? this.#close() : "";
    this.#block = block;
    this.#empty = false;
    for (const [at, piece] of text.split("\n").entries()) {
      if (at > 0) {
        written += "\n";
        this.#midLine = false;
      }
      if (piece === "") continue;
      written += paint(this.#midLine ? piece : `${prefix}${piece}`);
      this.#midLine = true;
    }
    return written;
  }

  #tool(item: ToolItem, printed: Printed | undefined): string {
    const { title, status, toolCallId, kind } = item;
    const failed = status === "failed";
    const over = failed || status === "completed";
    // Some agents name a call only when it runs, or rename it then.
    const isNews = printed === undefined ? over || title !== null : over && (title ?? toolCallId) !== printed.title;
    if (!isNews && (!failed || printed?.failed === true)) return "";
    const name = title ?? toolCallId;
    this.#remember(item, { title: name, failed });
    const line = `[${clean(kind ?? "tool")}] ${short(name)}`;
    return this.#line(failed ? this.#paint.red(`${line}: failed`) : this.#paint.cyan(line));
  }

  #remark(item: Remark): string | null {
    const { dim, yellow, red } = this.#paint;
    switch (item.item) {
      case "turn-end":
        return turnEnd(item.stopReason, short(item.message), this.#paint);
      case "reset":
        return yellow(`[Conversation context reset] ${short(item.reason)}`);
      case "auth":
        return red(`[authentication required] ${short(item.message)}`);
      case "damaged":
        return yellow(`[output damaged] ${short(item.what)}: part of the answer may be lost`);
      case "launch":
        return item.state === "failed" ? red(`[launch failed] ${short(item.reason)}`) : null;
      case "ended":
        return item.how === "stopped" ? dim("[agent stopped]") : yellow(agentEnd(item));
      case "converted":
        return dim(`[converted] to ${item.kind}, by ${short(item.by)}`);
      case "mode":
        return dim(`[mode] ${short(item.mode)}`);
      case "model":
        return dim(`[model] ${short(item.model)}`);
      case "notice":
        return (item.level === "warn" ? yellow : dim)(`[notice] ${short(item.text)}`);
      case "config":
      case "workspace-output":
      default:
        return null;
    }
  }

  /** The call in full. Its output, once there is some, is not part of the request. */
  #question({ seq, requestId, toolCallId, title, options }: PermissionItem): string {
    const tool = toolCallId === null ? undefined : this.#builder.tool(toolCallId, seq);
    const { title: name, kind, content, locations, rawInput } = tool ?? {};
    const details = callDetails({ title: name ?? undefined, kind: kind ?? undefined, content, locations, rawInput });
    const isOver = tool?.status === "completed" || tool?.status === "failed";
    const shown = { ...details, title, words: isOver ? "" : details.words };
    const question = { id: requestName(requestId), ...shown, options: this.#showOptions ? options : [] };
    return requestLines(question, this.#paint).join("\n");
  }

  #line(text: string): string {
    const close = this.#close();
    this.#empty = false;
    return `${close}${text}\n`;
  }

  #close(): string {
    const end = this.#midLine ? "\n" : "";
    this.#midLine = false;
    this.#block = null;
    return end;
  }
}

function isSettled({ state }: PromptItem): boolean {
  return state === "sent" || state === "doubtful" || state === "refused";
}

function answerLine({ requestId, options, answer }: PermissionItem): string {
  const { optionId, outcome, by, rule } = answer!;
  const option = options.find((one) => one.optionId === optionId);
  const choice = outcome === "cancelled" ? "cancelled" : short(option === undefined ? optionId : optionText(option));
  return `[permission ${requestName(requestId)}] ${choice}, by ${answeredBy(rule) ?? short(by)}`;
}

/**
 * The sequence number at which the last `turns` turns begin: with a prompt, or started by the agent itself. Null if they
 * began before these events, or one of their prompts was admitted before them.
 */
export function startOfTurns(events: readonly EventJson[], turns: number): number | null {
  const starts = events.filter(
    (event) => event.type === "prompt.sent" || (event.type === "turn.started" && event.promptId === null),
  );
  const first = starts.at(-turns);
  if (turns === 0) return Infinity;
  if (first === undefined || starts.length < turns) return null;
  const written = new Set(events.flatMap((event) => (event.type === "prompt.admitted" ? [event.promptId] : [])));
  const isWhole = starts.slice(-turns).every((event) => event.type !== "prompt.sent" || written.has(event.promptId));
  return isWhole ? first.seq : null;
}

function turnEnd(stopReason: string, message: string, { dim, yellow, red }: Paint): string {
  const paint = stopReason === "end_turn" || stopReason === "quiet" ? dim : stopReason === "error" ? red : yellow;
  return paint(`[${stopLabel(stopReason)}]${message === "" ? "" : ` ${message}`}`);
}

function agentEnd({ how, exit }: Extract<TranscriptItem, { item: "ended" }>): string {
  const status = exit?.signal ?? (exit?.code == null ? "" : `exit code ${exit.code}`);
  if (how === "crash") return `[agent crashed]${status === "" ? "" : ` ${clean(status)}`}`;
  if (how === "own-exit") return "[agent exited]";
  return how === "lost" ? "[agent lost] the machine or its tmux server went down" : `[agent exited] ${clean(how)}`;
}

function planOf(entries: unknown): string {
  const steps = (Array.isArray(entries) ? entries : []) as { content?: unknown; status?: unknown }[];
  const done = steps.filter((step) => step?.status === "completed").length;
  const now = steps.find((step) => step?.status === "in_progress")?.content;
  return `${done} of ${steps.length} done${typeof now === "string" ? `, now: ${short(now)}` : ""}`;
}

/** Events of other builds may lack a field. */
function short(text: string | null | undefined): string {
  return shorten(clean(text ?? ""), maxTitle);
}
