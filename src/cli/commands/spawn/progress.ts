/** Prints the progress of a session that is starting, from its events. Loaded only for a long wait. */
import { stripVTControlCharacters } from "node:util";
import { bounded } from "../../../base/async.ts";
import { clientOf } from "../../system/daemon/connection.ts";
import type { Context } from "../../context.ts";
import { readBack, readOn } from "../../read-events.ts";
import type { EventJson } from "../../../contract/stream.ts";
import type { Wait } from "./waits.ts";
import { clean, count, inert } from "../../render/text.ts";

interface ProgressOf {
  id: string;
  agent: string;
  /** Several sessions are starting: each line names its session. */
  among: boolean;
}

export class Progress {
  readonly #of: ProgressOf;
  #step = "";
  #launches = 0;
  #held = "";

  constructor(of: ProgressOf) {
    this.#of = of;
  }

  /** The lines that this event adds. */
  take(event: EventJson): string[] {
    // A daemon may know more types; only these are steps of a start.
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case "session.created":
        return this.#begin("creating the worktree");
      case "session.intent":
        return isStart(event) ? this.#begin("restoring") : [];
      case "workspace.output":
        return this.#output(event.text);
      case "workspace.restored":
        return this.#begin("worktree restored from the trash");
      case "workspace.ready":
        return this.#begin(`starting ${clean(this.#of.agent)}`);
      case "launch.started":
        return this.#begin(`starting ${clean(this.#of.agent)}${this.#launches++ === 0 ? "" : " again"}`);
      default:
        return [];
    }
  }

  #begin(step: string): string[] {
    const rest = this.#held === "" ? [] : [this.#line(this.#held)];
    this.#held = "";
    if (step === this.#step) return rest;
    this.#step = step;
    return [...rest, `${this.#of.id}: ${step}`];
  }

  #output(text: string): string[] {
    const lines = `${this.#held}${text}`.split("\n");
    this.#held = lines.pop() ?? "";
    return lines.flatMap((line) => [
      // Each command precedes its output; git's messages about submodules and filters come first.
      ...(line.startsWith("$ ") && this.#step !== running ? this.#heading() : []),
      this.#line(line),
    ]);
  }

  #heading(): string[] {
    this.#step = running;
    return [`${this.#of.id}: ${running}`];
  }

  #line(text: string): string {
    return `${this.#of.among ? `${this.#of.id}:` : ""}  ${inert(lastDrawn(text)).trimEnd()}`.trimEnd();
  }
}

const running = "running postCreate";

/** The first event of a start: events of earlier runs are not printed again. */
function isStart(event: EventJson): boolean {
  return event.type === "session.created" || (event.type === "session.intent" && event.want.want === "running");
}

/** A progress bar redraws its line; only the last state is printed, without colors. */
function lastDrawn(line: string): string {
  const drawn = line.split("\r").filter((part) => part !== "");
  return stripVTControlCharacters(drawn.at(-1) ?? "");
}

interface Left {
  verb: "spawn" | "restore";
  sessions: readonly string[];
  /** Requested, but the id is not known yet. */
  unnamed: number;
  /** Not requested yet. */
  unrequested: number;
}

/** Printed on Ctrl-C, which undoes nothing. */
export function leftLines({ verb, sessions, unnamed, unrequested }: Left): string[] {
  const [word, end] = verb === "spawn" ? ["created", "kill"] : ["restored", "stop"];
  return [
    ...sessions.flatMap((id) => [
      `Stopped waiting. ${id} is still being ${word}.`,
      `  Check: holdfast session show ${id}`,
      `  ${end === "kill" ? "Kill" : "Stop"}:  holdfast session ${end} ${id}`,
    ]),
    ...(unnamed === 0 ? [] : ["Stopped waiting. The spawn continues in the daemon. Check with: holdfast session ls"]),
    ...(unrequested === 0
      ? []
      : [`${count(unrequested, "remaining issue")} ${unrequested === 1 ? "was" : "were"} not started.`]),
  ];
}

/** As often as the daemon records command output. */
const pollMs = 500;
/** After Ctrl-C the command must exit soon. */
const leaveMs = 1_000;

export async function printProgress(
  context: Context,
  wait: Wait,
  { among, since, over }: { among: boolean; since: number; over: AbortSignal },
): Promise<void> {
  const passive = withoutStart(context);
  // The request may not be recorded yet: then the last start belongs to an earlier run.
  const startsNow = (event: EventJson): boolean => isStart(event) && Date.parse(event.at) >= since;
  let printedBefore = false;
  let shown: { id: string; progress: Progress; seq: number } | null = null;
  const print = (lines: readonly string[]): void => {
    if (lines.length > 0 && !over.aborted) context.err(lines.join("\n"));
  };
  const read = async (): Promise<void> => {
    const id: string | null = shown?.id ?? (await wait.find(passive));
    if (id === null) {
      if (!printedBefore) print([wait.before]);
      printedBefore = true;
      return;
    }
    let events: EventJson[] = [];
    if (shown === null) {
      const { agent, seq } = await passive.call("session", { params: { id } });
      const recent = await readBack(passive, id, seq, (some) => some.some(isStart));
      const start = recent.findLastIndex(startsNow);
      events = start < 0 ? [] : recent.slice(start);
      shown = { id, seq, progress: new Progress({ id, agent, among }) };
    } else await readOn(passive, id, shown.seq, (event) => events.push(event));
    const { progress } = shown;
    shown.seq = events.at(-1)?.seq ?? shown.seq;
    print(events.flatMap((event) => progress.take(event)));
  };
  while (!over.aborted) {
    // A daemon that stopped or is too old: the result of the call itself reports the error.
    await read().catch(() => undefined);
    await new Promise((resume) => setTimeout(resume, pollMs).unref());
  }
}

/** Prints that the work continues, then exits by the signal, so that a shell loop stops as well. */
export async function printLeft(context: Context, waits: readonly Wait[], unrequested: number): Promise<void> {
  const passive = withoutStart(context);
  const finding = Promise.all(waits.map((wait) => wait.find(passive).catch(() => null)));
  const found = await bounded(finding, leaveMs);
  const sessions = found === "too-late" ? [] : found.filter((id) => id !== null);
  const left = { verb: waits[0]?.verb ?? "spawn", sessions, unnamed: waits.length - sessions.length, unrequested };
  // The terminal has echoed ^C at the end of a line.
  context.err(`${context.isTerminal(2) ? "\n" : ""}${leftLines(left).join("\n")}`);
  process.kill(process.pid, "SIGINT");
}

/** Polling must not start a daemon that was stopped. */
function withoutStart(context: Context): Context {
  const passive: Context = {
    ...context,
    mayStart: false,
    call: (route, options) => clientOf(passive).call(route, options),
  };
  return passive;
}
