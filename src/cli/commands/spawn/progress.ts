/** Follows the events of a session that is waited for, and says on stderr what they mean. Loaded when a wait is long. */
import { clientOf } from "../../system/daemon/connection.ts";
import type { Context } from "../../context.ts";
import { readBack, readOn } from "../../read-events.ts";
import type { EventJson } from "../../../contract/wire.ts";
import type { Wait } from "./waits.ts";
import { clean, count, inert } from "../../render/text.ts";

interface ProgressOf {
  id: string;
  agent: string;
  /** Others are waited for as well: then each line says whose it is. */
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
    switch (event.type) {
      case "session.created":
        return this.#begin("making the worktree");
      case "session.intent":
        return isRunning(event) ? this.#begin("bringing it back") : [];
      case "workspace.output":
        return this.#output(String(event["text"]));
      case "workspace.restored":
        return this.#begin("its worktree is back from the trash");
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
      // Each command is shown before what it prints; what git says of submodules and filters comes before.
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

function isRunning({ want }: EventJson): boolean {
  return (want as { want?: string }).want === "running";
}

/** Where what was asked for last begins: an older life of the session is not told again. */
function isBeginning(event: EventJson): boolean {
  return event.type === "session.created" || (event.type === "session.intent" && isRunning(event));
}

/** A progress bar draws over its own line again and again; what it drew last is enough. Colors go with their escapes. */
function lastDrawn(line: string): string {
  const drawn = line.split("\r").filter((part) => part !== "");
  // oxlint-disable-next-line no-control-regex -- taking them out is the point
  return (drawn.at(-1) ?? "").replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "");
}

interface Left {
  verb: "spawn" | "restore";
  sessions: readonly string[];
  /** Asked for, and not yet known by an id. */
  unnamed: number;
  unasked: number;
}

/** What is said on Ctrl-C: nothing is undone by it. */
export function leftLines({ verb, sessions, unnamed, unasked }: Left): string[] {
  const [word, end] = verb === "spawn" ? ["started", "kill"] : ["brought back", "stop"];
  return [
    ...sessions.flatMap((id) => [
      `Not waiting any longer: ${id} is still being ${word}.`,
      `  Look:   holdfast session show ${id}`,
      `  End it: holdfast session ${end} ${id}`,
    ]),
    ...(unnamed === 0 ? [] : ["Not waiting any longer: the daemon goes on with the spawn. Look: holdfast session ls"]),
    ...(unasked === 0 ? [] : [`Nothing was begun for ${count(unasked, "further issue")}.`]),
  ];
}

/** As often as the daemon records what a command prints. */
const lookEveryMs = 500;
/** Whoever pressed Ctrl-C wants to be out. */
const leaveMs = 1_000;

export async function tellProgress(
  context: Context,
  wait: Wait,
  { among, since, over }: { among: boolean; since: number; over: AbortSignal },
): Promise<void> {
  const own = withoutStart(context);
  // What was asked for may not be on record yet: then the last beginning is that of an older life.
  const begins = (event: EventJson): boolean => isBeginning(event) && Date.parse(event.at) >= since;
  let saidBefore = false;
  let shown: { id: string; progress: Progress; seq: number } | null = null;
  const say = (lines: readonly string[]): void => {
    if (lines.length > 0 && !over.aborted) context.err(lines.join("\n"));
  };
  const look = async (): Promise<void> => {
    const id: string | null = shown?.id ?? (await wait.find(own));
    if (id === null) {
      if (!saidBefore) say([wait.before]);
      saidBefore = true;
      return;
    }
    let events: EventJson[] = [];
    if (shown === null) {
      const { agent, seq } = await own.call("session", { params: { id } });
      const read = await readBack(own, id, seq, (some) => some.some(isBeginning));
      const beginning = read.findLastIndex(begins);
      events = beginning < 0 ? [] : read.slice(beginning);
      shown = { id, seq, progress: new Progress({ id, agent, among }) };
    } else await readOn(own, id, shown.seq, (event) => events.push(event));
    const { progress } = shown;
    shown.seq = events.at(-1)?.seq ?? shown.seq;
    say(events.flatMap((event) => progress.take(event)));
  };
  while (!over.aborted) {
    // A daemon that went or that is too old to be asked: the answer that is waited for says what there is to say.
    await look().catch(() => undefined);
    await new Promise((resume) => setTimeout(resume, lookEveryMs).unref());
  }
}

/** Says that it goes on, and ends this process as the signal would have: a loop in a shell is to end as well. */
export async function tellLeft(context: Context, waits: readonly Wait[], unasked: number): Promise<void> {
  const own = withoutStart(context);
  const finding = Promise.all(waits.map((wait) => wait.find(own).catch(() => null)));
  const late = new Promise<(string | null)[]>((resume) => setTimeout(() => resume([]), leaveMs));
  const sessions = (await Promise.race([finding, late])).filter((id) => id !== null);
  const left = { verb: waits[0]?.verb ?? "spawn", sessions, unnamed: waits.length - sessions.length, unasked };
  // The terminal has echoed ^C at the end of a line.
  context.err(`${context.isTerminal(2) ? "\n" : ""}${leftLines(left).join("\n")}`);
  process.kill(process.pid, "SIGINT");
}

/** To look must not bring a daemon back that somebody stopped. */
function withoutStart(context: Context): Context {
  const own: Context = { ...context, mayStart: false, call: (route, options) => clientOf(own).call(route, options) };
  return own;
}
