/** What a session that is being started does just now, in lines, from its events. Pure. */
import type { EventJson } from "../../contract/wire.ts";
import { clean, count, inert } from "./text.ts";

export interface ProgressOf {
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
export function isBeginning(event: EventJson): boolean {
  return event.type === "session.created" || (event.type === "session.intent" && isRunning(event));
}

/** A progress bar draws over its own line again and again; what it drew last is enough. Colours go with their escapes. */
function lastDrawn(line: string): string {
  const drawn = line.split("\r").filter((part) => part !== "");
  // oxlint-disable-next-line no-control-regex -- taking them out is the point
  return (drawn.at(-1) ?? "").replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "");
}

export interface Left {
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
