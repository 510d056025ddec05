/**
 * Two concurrent verbs in the real daemon: the first is held at a named step, the second is recorded there, and then
 * the daemon continues, or is killed and restarted. Whatever the pair and the step, the last verb wins.
 */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HoldfastError } from "../../src/contract/errors.ts";
import type { SessionJson } from "../../src/contract/session.ts";
import type { EventFields } from "../harness/project.ts";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";

const verbs = ["kill", "delete", "stop", "archive", "snooze", "restore", "convert", "send"] as const;
type Verb = (typeof verbs)[number];
type Want = "killed" | "deleted" | "stopped" | "archived" | "snoozed" | "running";

/** The steps at which the first verb is held; a restore is for a killed session, all others for a running one. */
const steps: Record<Verb, string[]> = {
  kill: ["execute.stop", "stop.ended", "execute.remove-workspace", "workspace.trashed"],
  delete: ["execute.stop", "stop.ended", "execute.remove-workspace", "workspace.trashed"],
  stop: ["execute.stop", "stop.ended"],
  archive: ["execute.stop", "stop.ended"],
  snooze: ["execute.stop", "stop.ended"],
  restore: ["execute.restore-workspace", "execute.launch", "launch.recorded", "launch.made"],
  convert: [
    "execute.stop",
    "stop.ended",
    "execute.convert",
    "convert.stopped",
    "execute.launch",
    "launch.recorded",
    "launch.made",
  ],
  send: ["execute.deliver", "prompt.recorded", "prompt.typed"],
};
/** Steps that a chat does not have. */
const terminalOnly = new Set(["prompt.recorded"]);
const wantOf: Record<Verb, Want> = {
  kill: "killed",
  delete: "deleted",
  stop: "stopped",
  archive: "archived",
  snooze: "snoozed",
  restore: "running",
  convert: "running",
  send: "running",
};
/** As many as the daemon launches concurrently: all of them can be held in the middle of a launch. */
const atOnce = 4;
/** A restarted daemon observes everything first; a busy machine takes a while for four agents. */
const settleMs = 60_000;

class PairHome extends ChatHome {
  /** Records the verb without waiting; returns whether it was accepted. */
  async ask(id: string, verb: Verb): Promise<boolean> {
    const body = { wait: false };
    try {
      if (verb === "send") return (await this.send(id, "say: hello", { waitMs: 0 })).disposition !== "refused";
      if (verb === "snooze") await this.call(verb, id, { body: { ...body, forMs: 3_600_000 } });
      else if (verb === "convert") await this.call(verb, id, { body: { ...body, kind: await this.otherKind(id) } });
      else await this.call(verb, id, { body });
      return true;
    } catch (error) {
      if (error instanceof HoldfastError && (error.code === "conflict" || error.code === "not-found")) return false;
      throw error;
    }
  }

  async otherKind(id: string): Promise<"chat" | "terminal"> {
    return (await this.show(id)).kind === "chat" ? "terminal" : "chat";
  }

  /** Null once it is deleted. */
  async find(id: string): Promise<SessionJson | null> {
    return this.show(id).catch((error: unknown) => {
      if (error instanceof HoldfastError && error.code === "not-found") return null;
      throw error;
    });
  }

  async idle(kind: "chat" | "terminal"): Promise<SessionJson> {
    const { id } = await this.json(["spawn", "my-app", "--agent", "demo", "--kind", kind]);
    return this.status(id, "idle", "working", "running", "unknown");
  }

  async held(point: string, id: string): Promise<void> {
    await until(`${id} at ${point}`, () => existsSync(join(this.points, `${point}.${id}.reached`)));
  }
}

interface Pair {
  session: SessionJson;
  second: Verb;
}

/** What is wrong with a session that should be settled, or null. */
async function fault(home: PairHome, { id, workspacePath }: SessionJson, want: Want): Promise<string | null> {
  const session = await home.find(id);
  const left = home.tree(id).map(({ what }) => what);
  if (want === "deleted") {
    if (session !== null) return `it is ${session.intent.want}, not deleted`;
    return left.length > 0 ? `left running: ${left.join(", ")}` : there(workspacePath);
  }
  if (session === null) return `it is gone, and ${want} was the last word`;
  if (session.intent.want !== want) return `it is wanted ${session.intent.want}, and ${want} was the last word`;
  if (want !== "running" && left.length > 0) return `left running: ${left.join(", ")}`;
  if (want === "killed") return there(workspacePath);
  const kept = existsSync(workspacePath) || session.workspace === "trashed";
  if (!kept) return "its worktree is lost";
  if (want !== "running") return session.status === want ? null : `its status is ${session.status}`;
  const agents = session.processes.filter(({ what }) => what === "agent").length;
  return agents === 1 && session.status !== "starting"
    ? null
    : `${agents} agents, ${session.status}: ${session.reason}`;
}

function there(workspacePath: string): string | null {
  return existsSync(workspacePath) ? "its worktree was not cleared away" : null;
}

/** Nothing is launched against its intent, nor next to another launch. */
function faultOfLog(events: EventFields[]): string | null {
  let want = "running";
  let launched = false;
  for (const event of events) {
    if (event.type === "session.intent") want = (event["want"] as { want: string }).want;
    if (event.type === "run.ended" || event.type === "launch.failed") launched = false;
    if (event.type !== "launch.started") continue;
    if (want !== "running") return `launched while it was wanted ${want}`;
    if (launched) return "launched beside another launch";
    launched = true;
  }
  return null;
}

/** Terminals and chats in turns. */
function kindAt(index: number, point: string): "chat" | "terminal" {
  return index % 2 === 0 || terminalOnly.has(point) ? "terminal" : "chat";
}

async function playAt(
  home: PairHome,
  first: Verb,
  point: string,
  seconds: readonly Verb[],
  dies: boolean,
): Promise<string[]> {
  const pairs: Pair[] = await Promise.all(
    seconds.map(async (second, index) => ({ session: await home.idle(kindAt(index, point)), second })),
  );
  const ids = pairs.map(({ session }) => session.id);
  if (first === "restore") await Promise.all(ids.map((id) => home.call("kill", id, { body: {} })));
  home.arm(point, "pause");
  for (const id of ids) rmSync(join(home.points, `${point}.${id}.reached`), { force: true });
  const firsts = await Promise.all(ids.map((id) => home.ask(id, first)));
  await Promise.all(ids.map((id) => home.held(point, id)));
  const taken = await Promise.all(pairs.map(({ session, second }) => home.ask(session.id, second)));
  if (dies) await home.crash();
  home.disarm(point);
  if (dies) await home.ok(["start"]);
  const faults = await Promise.all(
    pairs.map(async ({ session, second }, index) => {
      // Stopping an archived session is accepted and changes nothing: it is already down.
      const holds = taken[index] === true && !(first === "archive" && second === "stop");
      const last = holds ? second : first;
      const name = `${first} × ${second} at ${point}${dies ? ", the daemon killed there" : ""} (${session.id}, ${session.kind})`;
      if (firsts[index] !== true) return `${name}: the first was refused`;
      if (second === "kill" && first !== "delete" && !taken[index]) return `${name}: a kill was refused`;
      if (first === "kill" && taken[index] === true && !["kill", "delete", "restore"].includes(second))
        return `${name}: it was taken after a kill`;
      const problem = await settled(home, session, wantOf[last]);
      if (problem !== null) return `${name}: ${problem}`;
      const now = await home.find(session.id);
      if (now === null) return [];
      const log = faultOfLog(await home.events(session.id));
      if (log !== null) return `${name}: ${log}`;
      // Converting a session that is being converted requests its current kind: this cancels the first conversion.
      const converts = last === "convert" && !(first === "convert" && taken[index] === true);
      return converts && now.kind === session.kind ? `${name}: it was not converted` : [];
    }),
  );
  await Promise.all(ids.map((id) => home.call("delete", id, { body: {} }).catch(() => undefined)));
  return faults.flat();
}

/** The first is held before its commit, the second is recorded: the first is judged against that. */
async function playBefore(home: PairHome, first: Verb, seconds: readonly Verb[]): Promise<string[]> {
  const point = `verb.${first === "send" ? "prompt" : first}`;
  const pairs: Pair[] = await Promise.all(
    seconds.map(async (second, index) => ({ session: await home.idle(kindAt(index, point)), second })),
  );
  const ids = pairs.map(({ session }) => session.id);
  if (first === "restore") await Promise.all(ids.map((id) => home.call("kill", id, { body: {} })));
  home.arm(point, "pause");
  for (const id of ids) rmSync(join(home.points, `${point}.${id}.reached`), { force: true });
  const firsts = ids.map((id) => home.ask(id, first));
  await Promise.all(ids.map((id) => home.held(point, id)));
  const taken = await Promise.all(pairs.map(({ session, second }) => home.ask(session.id, second)));
  home.disarm(point);
  const faults = await Promise.all(
    pairs.map(async ({ session, second }, index) => {
      const name = `${second} before the commit of ${first} (${session.id}, ${session.kind})`;
      const isTaken = await firsts[index]!;
      const after = taken[index] === true ? second : null;
      if (isTaken && after === "delete") return `${name}: it was taken after a delete`;
      if (isTaken && after === "kill" && !["delete", "restore"].includes(first))
        return `${name}: it was taken after a kill`;
      // Stopping an archived session is accepted and changes nothing: it is already down.
      const last = isTaken && !(first === "stop" && after === "archive") ? first : after;
      if (last === null) return `${name}: both were refused`;
      const problem = await settled(home, session, wantOf[last]);
      if (problem !== null) return `${name}: ${problem}`;
      const log = (await home.find(session.id)) === null ? null : faultOfLog(await home.events(session.id));
      return log === null ? [] : `${name}: ${log}`;
    }),
  );
  await Promise.all(ids.map((id) => home.call("delete", id, { body: {} }).catch(() => undefined)));
  return faults.flat();
}

/** Waits for it to settle; returns what was still wrong at the deadline. */
async function settled(home: PairHome, session: SessionJson, want: Want): Promise<string | null> {
  let last: string | null = "never checked";
  const look = async (): Promise<boolean> => (last = await fault(home, session, want)) === null;
  await until(`${session.id} to be ${want}`, look, settleMs).catch(() => undefined);
  return last;
}

describe("[SESSION-37] [SESSION-22] every pair of verbs, the second at each named step of the first", () => {
  const plays = verbs.flatMap((first) => steps[first].map((point) => ({ first, point })));
  for (const [index, { first, point }] of plays.entries()) {
    test(`${first} held at ${point}`, async () => {
      await using home = new PairHome();
      await home.begin();
      const faults: string[] = [];
      const halves = [verbs.slice(0, atOnce), verbs.slice(atOnce)];
      for (const half of halves) faults.push(...(await playAt(home, first, point, half, false)));
      // With the daemon killed there, one half at each step, in turns: both at each would take too long.
      faults.push(...(await playAt(home, first, point, halves[index % 2]!, true)));
      expect(faults).toEqual([]);
    });
  }
  for (const first of verbs) {
    test(`${first} held before its commit`, async () => {
      await using home = new PairHome();
      await home.begin();
      // Two of the same verb would be held together.
      const seconds = verbs.filter((second) => second !== first);
      const faults: string[] = [];
      for (const some of [seconds.slice(0, atOnce), seconds.slice(atOnce)]) {
        faults.push(...(await playBefore(home, first, some)));
      }
      expect(faults).toEqual([]);
    });
  }
});
