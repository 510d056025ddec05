/**
 * A chat's transcript. What agents say comes in pieces that may end in the middle of a line, so a piece of transcript
 * is text to be written as it is. Words in brackets are ours, everything else was said by somebody.
 */
import { questionId } from "../../contract/question.ts";
import { shorten } from "../../model/text.ts";
import { callDetails, mergeCall, type ToolCallFields } from "../../model/tool-call.ts";
import type { PermissionOption } from "../../model/session.ts";
import type { EventJson } from "../../contract/wire.ts";
import { type Paint, clean, inert } from "./text.ts";
import { answeredBy, optionText, questionLines } from "./question.ts";

export interface OpenQuestion {
  requestId: string;
  title: string;
  options: PermissionOption[];
}

/** Titles are whole commands with some agents; the rest of a long one is in `events --json`. What is asked is never cut. */
const maxTitle = 200;

export class Transcript {
  readonly #paint: Paint;
  readonly #showOptions: boolean;
  readonly #prompts = new Map<string, string>();
  /** What goes along with a prompt, a line each. */
  readonly #attached = new Map<string, string[]>();
  readonly #waiting = new Set<string>();
  readonly #tools = new Map<string, Tool>();
  readonly #calls = new Map<string, ToolCallFields & { status?: unknown }>();
  readonly #questions = new Map<string, OpenQuestion>();
  /** What the last line belongs to, as long as more of the same would go on in it. */
  #block: string | null = null;
  #midLine = false;
  #empty = true;
  #turnOpen = false;

  /** `showOptions` false where the keys that choose them are shown instead. */
  constructor(paint: Paint, showOptions = true) {
    this.#paint = paint;
    this.#showOptions = showOptions;
  }

  get turnOpen(): boolean {
    return this.#turnOpen;
  }

  /** The agent's questions that nobody has answered, oldest first. */
  get questions(): OpenQuestion[] {
    return [...this.#questions.values()];
  }

  /** What this event adds, to be written as it is; `echoed` prompts are on the screen already. */
  take(event: EventJson, echoed?: ReadonlySet<string>): string {
    this.#track(event);
    switch (event.type) {
      case "prompt.sent":
      case "prompt.doubtful":
      case "prompt.refused":
        return this.#prompt(event, echoed);
      case "agent.text":
        return this.#words(`text ${wordOf(event, "messageId")}`, "", wordOf(event, "text"), (text) => text);
      case "agent.thought":
        return this.#words("thought", "~ ", wordOf(event, "text"), this.#paint.dim);
      case "tool.updated":
        return this.#tool(event);
      default: {
        const line = this.#remark(event);
        return line === null ? "" : this.#line(line);
      }
    }
  }

  /** Ends an open line, and names the prompts that still wait. */
  end(): string {
    const waiting = [...this.#waiting].map((id) => this.#paint.dim(`[waiting] ${short(this.#prompts.get(id) ?? "")}`));
    const close = this.#close();
    return close + waiting.map((line) => `${line}\n`).join("");
  }

  #track(event: EventJson): void {
    const promptId = wordOf(event, "promptId");
    const requestId = wordOf(event, "requestId");
    switch (event.type) {
      case "prompt.admitted":
        this.#attached.set(promptId, attachmentsOf(event));
        this.#prompts.set(promptId, wordOf(event, "text"));
        this.#waiting.add(promptId);
        return;
      case "prompt.edited":
        this.#prompts.set(promptId, wordOf(event, "text"));
        this.#waiting.add(promptId);
        return;
      case "prompt.requeued":
        return void this.#waiting.add(promptId);
      case "prompt.sent":
      case "prompt.doubtful":
      case "prompt.refused":
      case "prompt.withdrawn":
        return void this.#waiting.delete(promptId);
      case "turn.started":
        this.#turnOpen = true;
        return;
      case "turn.ended":
        this.#turnOpen = false;
        // After a forced end the agent may still wait for its answer.
        if (event["stopReason"] !== "forced") this.#questions.clear();
        return;
      case "run.ended":
        return this.#questions.clear();
      case "permission.asked":
        this.#questions.set(requestId, { requestId, title: wordOf(event, "title"), options: optionsOf(event) });
        return;
      default:
    }
  }

  #prompt(event: EventJson, echoed: ReadonlySet<string> | undefined): string {
    const id = wordOf(event, "promptId");
    const fates: Record<string, string> = {
      "prompt.doubtful": "it may not have arrived",
      "prompt.refused": "not sent",
    };
    const fate = fates[event.type];
    const doubt = fate === undefined ? null : `[${fate}] ${short(wordOf(event, "reason"))}`;
    const remark = doubt === null ? "" : `${this.#paint.yellow(doubt)}\n`;
    if (echoed?.has(id) === true) return this.#close() + remark;
    const text = this.#prompts.get(id) ?? "(a prompt from before)";
    const lines = [...inert(text).trimEnd().split("\n"), ...(this.#attached.get(id) ?? [])];
    const gap = this.#empty ? "" : "\n";
    this.#empty = false;
    return this.#close() + gap + lines.map((line) => `${this.#paint.bold(`> ${line}`)}\n`).join("") + remark;
  }

  #words(block: string, prefix: string, said: string, paint: (text: string) => string): string {
    const begins = this.#block !== block;
    const text = begins ? inert(said).replace(/^\n+/, "") : inert(said);
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

  #tool(event: EventJson): string {
    const id = wordOf(event, "toolCallId");
    this.#calls.set(id, { ...mergeCall(this.#calls.get(id) ?? {}, event as ToolCallFields), status: event["status"] });
    const tool = this.#tools.get(id) ?? { title: null, kind: "tool", status: "", told: null, toldFailed: false };
    this.#tools.set(id, tool);
    tool.title = wordOf(event, "title") || tool.title;
    tool.kind = wordOf(event, "kind") || tool.kind;
    tool.status = wordOf(event, "status") || tool.status;
    const failed = tool.status === "failed";
    const over = failed || tool.status === "completed";
    // Some agents give a call its name only when it runs, or a better one then.
    const isNews = tool.told === null ? over || tool.title !== null : over && tool.title !== tool.told;
    if (!isNews && (!failed || tool.toldFailed)) return "";
    tool.told = tool.title ?? id;
    tool.toldFailed = failed;
    const line = `[${clean(tool.kind)}] ${short(tool.told)}`;
    return this.#line(failed ? this.#paint.red(`${line}: failed`) : this.#paint.cyan(line));
  }

  #remark(event: EventJson): string | null {
    const { dim, yellow, red } = this.#paint;
    const says = (name: string): string => short(wordOf(event, name));
    switch (event.type) {
      case "permission.asked":
        return this.#question(event);
      case "permission.answered":
        return yellow(
          `[permission ${nameOf(event)}] ${this.#choice(event)}, by ${answeredBy(event["rule"]) ?? says("by")}`,
        );
      case "turn.cancelling":
        return dim(`[cancelling] by ${says("by")}`);
      case "turn.ended":
        return turnEnd(says("stopReason"), says("message"), this.#paint);
      case "context.reset":
        return yellow(`[Conversation context reset] ${says("reason")}`);
      case "plan.updated":
        return dim(`[plan] ${planOf(event["entries"])}`);
      case "auth.required":
        return red(`[authentication required] ${says("message")}`);
      case "output.damaged":
        return yellow(`[output damaged] ${says("what")}: part of the answer may be lost`);
      case "prompt.requeued":
        return yellow(`[queued again] ${says("reason")}`);
      case "launch.failed":
        return red(`[launch failed] ${says("reason")}`);
      case "run.ended":
        return event["how"] === "stopped" ? dim("[agent stopped]") : yellow(agentEnd(says("how"), event["exit"]));
      case "session.converted":
        return dim(`[converted] to ${says("kind")}, by ${says("by")}`);
      case "mode.changed":
        return dim(`[mode] ${says("mode")}`);
      case "model.changed":
        return dim(`[model] ${says("model")}`);
      case "notice":
        return (event["level"] === "warn" ? yellow : dim)(`[notice] ${says("text")}`);
      default:
        return null;
    }
  }

  /** All that the agent said about the call; its output, once there is some, is not part of the question. */
  #question(event: EventJson): string {
    const title = wordOf(event, "title");
    const { status, ...call } = this.#calls.get(wordOf(event, "toolCallId")) ?? {};
    const isOver = status === "completed" || status === "failed";
    const details = callDetails(call);
    const shown = { ...details, title, words: isOver ? "" : details.words };
    return questionLines(
      { id: nameOf(event), ...shown, options: this.#showOptions ? optionsOf(event) : [] },
      this.#paint,
    ).join("\n");
  }

  #choice(event: EventJson): string {
    const requestId = wordOf(event, "requestId");
    const question = this.#questions.get(requestId);
    this.#questions.delete(requestId);
    if (event["outcome"] === "cancelled") return "cancelled";
    const optionId = wordOf(event, "optionId");
    const option = question?.options.find((one) => one.optionId === optionId);
    return option === undefined ? short(optionId) : short(optionText(option));
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

interface Tool {
  title: string | null;
  kind: string;
  status: string;
  /** The title that was printed, and whether with its failure. */
  told: string | null;
  toldFailed: boolean;
}

/** Events that are over, for a transcript: each tool call once, where it began, as it ended. */
export function mergeTools(events: readonly EventJson[]): EventJson[] {
  const calls = new Map<unknown, EventJson>();
  return events.flatMap((event) => {
    if (event.type !== "tool.updated") return [event];
    const first = calls.get(event["toolCallId"]);
    if (first !== undefined) {
      Object.assign(first, event, { seq: first.seq, at: first.at });
      return [];
    }
    const merged = { ...event };
    calls.set(event["toolCallId"], merged);
    return [merged];
  });
}

/**
 * Sequence number at which the last `turns` turns begin: with a prompt, or by the agent itself. Null when they began
 * before these events, or one of their prompts was written before them.
 */
export function startOfTurns(events: readonly EventJson[], turns: number): number | null {
  const starts = events.filter(
    ({ type, ...event }) => type === "prompt.sent" || (type === "turn.started" && event["promptId"] === null),
  );
  const first = starts.at(-turns);
  if (turns === 0) return Infinity;
  if (first === undefined || starts.length < turns) return null;
  const written = new Set(events.filter(({ type }) => type === "prompt.admitted").map((event) => event["promptId"]));
  const isWhole = starts
    .slice(-turns)
    .every(({ type, ...event }) => type !== "prompt.sent" || written.has(event["promptId"]));
  return isWhole ? first.seq : null;
}

const turnEnds: Record<string, string> = {
  end_turn: "turn finished",
  quiet: "turn finished",
  cancelled: "cancelled",
  forced: "turn force-ended",
  error: "turn failed",
  refusal: "the agent refused",
  max_tokens: "cut at the model's token limit",
  max_turn_requests: "cut at the agent's limit of requests",
  orphaned_at_restart: "interrupted: the agent stopped before it finished",
};

/** A stop reason of the protocol, readable. */
export function stopWords(stopReason: string): string {
  return Object.hasOwn(turnEnds, stopReason) ? turnEnds[stopReason]! : stopReason.replaceAll("_", " ");
}

function turnEnd(stopReason: string, message: string, { dim, yellow, red }: Paint): string {
  const paint = stopReason === "end_turn" || stopReason === "quiet" ? dim : stopReason === "error" ? red : yellow;
  return paint(`[${stopWords(stopReason)}]${message === "" ? "" : ` ${message}`}`);
}

function agentEnd(how: string, exit: unknown): string {
  const { code = null, signal = null } = (exit ?? {}) as { code?: unknown; signal?: unknown };
  const status = typeof signal === "string" ? signal : typeof code === "number" ? `exit code ${code}` : "";
  const ends: Record<string, string> = {
    crash: `[agent crashed]${status === "" ? "" : ` ${clean(status)}`}`,
    "own-exit": "[agent exited]",
    lost: "[agent lost] the machine or its tmux server went down",
  };
  return Object.hasOwn(ends, how) ? ends[how]! : `[agent ended] ${how}`;
}

function planOf(entries: unknown): string {
  const steps = (Array.isArray(entries) ? entries : []) as { content?: unknown; status?: unknown }[];
  const done = steps.filter((step) => step?.status === "completed").length;
  const now = steps.find((step) => step?.status === "in_progress")?.content;
  return `${done} of ${steps.length} done${typeof now === "string" ? `, now: ${short(now)}` : ""}`;
}

function attachmentsOf(event: EventJson): string[] {
  const attached = event["attachments"] as { name?: unknown }[] | undefined;
  return (attached ?? []).map(({ name }) => `[${short(typeof name === "string" ? name : "attached")}]`);
}

function optionsOf(event: EventJson): PermissionOption[] {
  return Array.isArray(event["options"]) ? (event["options"] as PermissionOption[]) : [];
}

function wordOf(event: EventJson, name: string): string {
  const value = event[name];
  return typeof value === "string" ? value : "";
}

function short(text: string): string {
  return shorten(clean(text), maxTitle);
}

function nameOf(event: EventJson): string {
  return questionId(wordOf(event, "requestId"));
}
