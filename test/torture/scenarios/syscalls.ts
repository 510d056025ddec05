/**
 * SIGKILL at the n-th system call of a kind inside spawn, convert, kill, restore and delete: each restart must converge to
 * an intent that the requests allow, with the worktree's bytes, one agent at most and nothing left over.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { audit, checkWork } from "../audit.ts";
import { ask } from "../clients.ts";
import { isRunning } from "../../harness/marked.ts";
import { until } from "../../harness/until.ts";
import type { SessionJson } from "../../../src/contract/session.ts";
import { allowedFinals } from "../model.ts";
import type { Run, Scenario } from "../report.ts";
import { attach, withoutStrace } from "../strace.ts";
import { World, type Daemon } from "../world.ts";

/** In strace's syntax; `?` marks calls that some machines lack. Directories are removed by `unlinkat`. */
const calls = [
  "write",
  "pwrite64",
  "?rename,?renameat,?renameat2",
  "fsync",
  "fdatasync",
  "?unlink",
  "unlinkat",
  "?link,linkat",
  "openat",
  "?mkdir,mkdirat",
  "ftruncate",
  "?rmdir",
  "?vfork,clone,clone3",
];
const verbs = ["spawn", "convert", "kill", "restore", "delete"] as const;
type Verb = (typeof verbs)[number];
/** The initial sweep; more if a verb was seen to make more calls of a kind, fewer if it makes fewer. */
const firstCalls = 20;
/** Swept concurrently: most of a point is waiting. */
const homes = 2;
/** Full audits cost more than a point; each cycle ends with a small one. */
const auditEvery = 5;

export const syscalls: Scenario = {
  name: "syscalls",
  group: "storm",
  promise: "a daemon killed inside any system call of a verb converges after its restart",
  share: 4,
  needs: withoutStrace,
  run: (run) => sweepAll(run, false),
};

export const children: Scenario = {
  name: "syscalls-children",
  group: "storm",
  promise: "a git, tmux server or keeper killed inside any system call of a verb costs no work and no other session",
  share: 2,
  fromMinutes: 30,
  needs: withoutStrace,
  run: (run) => sweepAll(run, true),
};

async function sweepAll(run: Run, withChildren: boolean): Promise<void> {
  const sweep = new Sweep(run);
  await Promise.all(Array.from({ length: homes }, (_, home) => sweepIn(run, sweep, home, withChildren)));
  run.say(sweep.summary());
}

async function sweepIn(run: Run, sweep: Sweep, home: number, withChildren: boolean): Promise<void> {
  const checks = { agentsMayDie: true, gitMayDie: withChildren };
  await using world = await World.open({ HOLDFAST_TEST_MINUTE_MS: "1000" });
  await world.killDaemons();
  let daemon = await up(world);
  for (let cycle = 0; !run.timeIsUp; cycle++) {
    const kind = (cycle + home) % 2 === 0 ? "chat" : "terminal";
    let session: string | null = null;
    for (const verb of verbs) {
      const done = await onePoint(run, world, { daemon, sweep, verb, session, children: withChildren, kind });
      daemon = done.daemon;
      session = done.session;
      if (session === null) break;
    }
    if (cycle % auditEvery === auditEvery - 1) await audit(run, world, checks);
  }
  await audit(run, world, checks);
}

async function up(world: World): Promise<Daemon> {
  const daemon = world.startDaemon();
  await daemon.ready;
  return daemon;
}

interface Point {
  daemon: Daemon;
  sweep: Sweep;
  verb: Verb;
  session: string | null;
  children: boolean;
  kind: "chat" | "terminal";
}

async function onePoint(run: Run, world: World, point: Point): Promise<{ daemon: Daemon; session: string | null }> {
  const { sweep, verb, children, kind } = point;
  let { daemon, session } = point;
  const pid = daemon.child.pid!;
  const { call, at } = sweep.next(verb, kind, children);
  const tracer = await attach(pid, { calls: call, what: `signal=SIGKILL:when=${at}`, children });
  const request = {
    client: 0,
    verb,
    session,
    of: verb === "spawn" ? (answer: unknown) => (answer as SessionJson).id : () => null,
  };
  const asked = await ask(run, world, request, () => issue(world, verb, session, kind));
  const hit = await tracer.detach(!isRunning(pid));
  if (hit) run.count("calls");
  sweep.saw(verb, kind, { call, at }, hit);
  if (!isRunning(pid)) {
    run.count("kills");
    daemon = await up(world);
  }
  if (verb === "spawn") session = await spawned(world, asked.answer as SessionJson | null);
  if (session === null) return { daemon, session };
  // As git itself advises: remove the lock of a dead git by hand.
  if (children) dropGitLocks(join(world.repo, ".git"));
  const name = `${verb} ${kind} at ${call} ${at}${children ? " (children too)" : ""}`;
  await converge(run, world, session, name, children);
  return { daemon, session: await repeat(run, world, verb, session, kind, children) };
}

function dropGitLocks(directory: string): void {
  const found = readdirSync(directory, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".lock"));
  for (const name of found) rmSync(join(directory, name), { force: true });
}

/** The session of an interrupted spawn, if it was recorded. */
async function spawned(world: World, answer: SessionJson | null): Promise<string | null> {
  if (answer !== null) return answer.id;
  const known = new Set(world.requests.requests.map(({ session }) => session));
  return (await world.call("sessions")).map(({ id }) => id).findLast((id) => !known.has(id)) ?? null;
}

/** The running processes match the record, and the requests allow that record. */
async function converge(run: Run, world: World, session: string, name: string, children: boolean): Promise<void> {
  const look = async (): Promise<string | false> => {
    const found = (await world.call("sessions")).find(({ id }) => id === session);
    const alive = world.census().get(session)?.length ?? 0;
    if (found === undefined) return alive === 0 ? "deleted" : false;
    const { want } = found.intent;
    if (want === "running") {
      const agent = found.processes.find(({ what }) => what === "agent");
      if (found.status === "failed") return `failed: ${found.reason}`;
      return agent !== undefined && isRunning(agent.pid) ? want : false;
    }
    return alive === 0 && !(want === "killed" && found.workspace === "ready") ? want : false;
  };
  let final = "";
  try {
    final = await until(`${session} to converge`, look, 60_000);
  } catch (error) {
    run.bad("untrue", `${name}: ${String(error)}`);
    return;
  }
  const allowed = allowedFinals(world.requests.of(session)) as Set<string>;
  const failed = final.startsWith("failed");
  run.check(
    allowed.has(final) || (failed && children),
    "untrue",
    `${name}: ${final}, not ${[...allowed].join(" or ")}`,
  );
  await checkWork(run, world);
}

/** Repeats a verb that was interrupted before its intent was recorded, so that the next verb finds what it needs. */
async function repeat(
  run: Run,
  world: World,
  verb: Verb,
  session: string,
  kind: "chat" | "terminal",
  children: boolean,
): Promise<string | null> {
  const found = (await world.call("sessions")).find(({ id }) => id === session);
  if (found === undefined) return null;
  const { want } = found.intent;
  const other = kind === "chat" ? "terminal" : "chat";
  const done =
    (verb === "spawn" && want === "running") ||
    (verb === "convert" && want === "running" && found.kind === other) ||
    (verb === "kill" && want === "killed") ||
    (verb === "restore" && want === "running");
  if (done) return session;
  const again = await ask(run, world, { client: 0, verb, session }, () => issue(world, verb, session, kind));
  if (again.fate !== "ok" && !children) {
    // The first convert may have finished between the query and the second request, which is then rightly refused.
    const converted = verb === "convert" && (await world.call("session", session)).kind === other;
    run.check(converted, "untrue", `${verb} of ${session}, issued again: ${again.error}`);
  }
  return verb === "delete" ? null : session;
}

function issue(world: World, verb: Verb, session: string | null, kind: "chat" | "terminal"): Promise<unknown> {
  if (verb === "spawn") return world.call("spawn", "", { body: { project: "my-app", kind } });
  if (verb === "convert")
    return world.call("convert", session!, { body: { kind: kind === "chat" ? "terminal" : "chat", fresh: true } });
  return world.call(verb, session!, { body: {} });
}

type Place = { call: string; at: number };
type Kind = Point["kind"];

/**
 * The next point: in random order, each once per kind, up to the highest count seen for the verb; then all of
 * them again.
 */
class Sweep {
  readonly #run: Run;
  readonly #done = new Set<string>();
  readonly #different = new Set<string>();
  readonly #limits = new Map<string, number>();
  #hits = 0;
  #beyond = 0;

  constructor(run: Run) {
    this.#run = run;
  }

  next(verb: Verb, kind: Kind, children: boolean): Place {
    const open = calls.flatMap((call) => {
      const limit = this.#limits.get(`${verb} ${kind} ${call}`) ?? firstCalls;
      return [...Array(limit).keys()].map((n) => ({ call, at: n + 1 }));
    });
    const key = ({ call, at }: Place): string => `${verb} ${kind} ${call} ${at} ${String(children)}`;
    const fresh = open.filter((point) => !this.#done.has(key(point)));
    const point = this.#run.random.pick(fresh.length > 0 ? fresh : open);
    this.#done.add(key(point));
    return point;
  }

  saw(verb: Verb, kind: Kind, { call, at }: Place, hit: boolean): void {
    if (hit) this.#hits++;
    else this.#beyond++;
    const key = `${verb} ${kind} ${call}`;
    if (hit) this.#different.add(`${key} ${at}`);
    const limit = this.#limits.get(key) ?? firstCalls;
    // Counts differ by a few between runs.
    this.#limits.set(key, hit ? Math.max(limit, at + 4) : Math.max(2, Math.min(limit, at)));
  }

  summary(): string {
    return `${this.#hits} points hit, ${this.#different.size} of them different, ${this.#beyond} beyond the end of their verb`;
  }
}
