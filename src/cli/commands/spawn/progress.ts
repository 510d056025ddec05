/** Follows the events of a session that is waited for, and says on stderr what they mean. Loaded when a wait is long. */
import { clientOf } from "../../system/daemon/connection.ts";
import type { Context } from "../../context.ts";
import { readBack, readOn } from "../../read-events.ts";
import { isBeginning, leftLines, Progress } from "../../render/progress.ts";
import type { EventJson } from "../../../contract/wire.ts";
import type { Wait } from "./waits.ts";

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
