/** The invariants that must hold once a daemon runs undisturbed again, checked against the external ledgers. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { SessionJson } from "../../src/contract/session.ts";
import type { EventFields } from "../harness/project.ts";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";
import { workFiles } from "./agents/work.ts";
import { allowedFinals, covered } from "./model.ts";
import type { Run } from "./report.ts";
import type { World } from "./world.ts";

/** A busy machine needs at most this long for fifty sessions. */
const settleMs = 90_000;
/** Events carry the daemon's clock, requests the driver's; both are this machine's. */
const slackMs = 50;

/** A worktree is moved by one rename; only the check takes time. */
const movingMs = 5_000;

export interface AuditOptions {
  /** The faults of this scenario may kill agents. */
  agentsMayDie?: boolean;
  /** git is killed as well: its lock files, and half-removed registrations, are left to git's own cleanup. */
  gitMayDie?: boolean;
  /** Sessions whose requests are not in the ledger. */
  onlyKnown?: boolean;
  /** How long to wait for the sessions to settle. */
  settleMs?: number;
}

export async function audit(run: Run, world: World, options: AuditOptions = {}): Promise<void> {
  const sessions = await settled(run, world, options.settleMs ?? settleMs);
  const listed = new Map(sessions.map((session) => [session.id, session]));
  checkIntents(run, world, listed);
  for (const session of sessions) checkHistory(run, world, session.id, await world.events(session.id), options);
  checkProcesses(run, world, listed);
  await checkWork(run, world);
  await checkTrash(run, world, sessions);
  await checkLeftovers(run, world, options);
}

/** Trash entries are pinned by a ref and known to their session, and no kill removed a branch. */
export async function checkTrash(run: Run, world: World, sessions: SessionJson[]): Promise<void> {
  let problems: { loss: "lost" | "untrue"; text: string }[] = [];
  // A session that is being deleted is in no list while its worktree still moves.
  const look = async (): Promise<boolean> => {
    problems = await trashProblems(world, sessions);
    return problems.length === 0;
  };
  await until("the trash to settle", look, 45_000).catch(() => undefined);
  run.count("checks");
  for (const { loss, text } of problems) run.bad(loss, text);
}

async function trashProblems(
  world: World,
  sessions: SessionJson[],
): Promise<{ loss: "lost" | "untrue"; text: string }[]> {
  const refs = new Set((await world.git(world.repo, ["for-each-ref", "--format=%(refname)"])).split("\n"));
  const lost = (await world.call("trash")).flatMap(({ id }) => {
    const record = readRecord(world, id);
    if (record === null) return [`trash entry ${id} has no record`];
    const { ref, branch } = record;
    return [
      ...(ref === null || refs.has(ref) ? [] : [`trash entry ${id} is not pinned by ${ref}`]),
      ...(branch === null || refs.has(`refs/heads/${branch}`)
        ? []
        : [`the branch ${branch} of trash entry ${id} is gone`]),
    ];
  });
  const inTrash = trashTrees(world);
  const untrue = sessions.flatMap(({ id, workspace }) => {
    if (workspace !== "gone" || world.ledger.of(id, "work").length === 0) return [];
    const kept = (inTrash.get(id) ?? []).some((tree) => existsSync(tree));
    return kept ? [`the worktree of ${id} is in the trash, but its record has it as gone`] : [];
  });
  return [
    ...lost.map((text) => ({ loss: "lost" as const, text })),
    ...untrue.map((text) => ({ loss: "untrue" as const, text })),
  ];
}

interface TrashRecord {
  session: string;
  ref: string | null;
  branch: string | null;
}

function readRecord(world: World, id: string): TrashRecord | null {
  try {
    return JSON.parse(readFileSync(join(world.paths.trash, id, "entry.json"), "utf8")) as TrashRecord;
  } catch {
    return null;
  }
}

/** All sessions, once the running processes match the intents. */
async function settled(run: Run, world: World, deadlineMs: number): Promise<SessionJson[]> {
  let sessions: SessionJson[] = [];
  let why = "";
  const look = async (): Promise<boolean> => {
    sessions = await world.call("sessions");
    const census = world.census();
    why = sessions.map((session) => unsettled(session, census.get(session.id)?.length ?? 0)).find(isText) ?? "";
    return why === "";
  };
  await until("sessions to settle", look, deadlineMs).catch(() => undefined);
  run.check(why === "", "untrue", `not settled after ${deadlineMs / 1000} s: ${why}`);
  for (const { id, status, reason } of sessions)
    run.check(status !== "failed", "untrue", `${id} failed: ${reason ?? ""}`);
  return sessions;
}

const isText = (value: string | null): value is string => value !== null;

function unsettled(session: SessionJson, alive: number): string | null {
  const { id, intent, status, reason, processes, workspace } = session;
  if (status === "failed") return null;
  const what = `${id} (${intent.want}, ${status}${reason === null ? "" : `: ${reason}`})`;
  if (intent.want === "running") {
    const agent = processes.find((process) => process.what === "agent");
    return agent !== undefined && isRunning(agent.pid) ? null : `${what} has no living agent`;
  }
  if (processes.length > 0 || alive > 0) return `${what} still has ${Math.max(alive, processes.length)} processes`;
  return intent.want === "killed" && workspace === "ready" ? `${what} still has its worktree` : null;
}

function checkIntents(run: Run, world: World, listed: Map<string, SessionJson>): void {
  const named = new Set(world.requests.requests.flatMap(({ session }) => session ?? []));
  for (const id of named) {
    const allowed = allowedFinals(world.requests.of(id));
    if (allowed.size === 0) continue;
    const final = listed.get(id)?.intent.want ?? "deleted";
    const fits = allowed.has(final) || (final === "deleted" && allowed.has("absent"));
    const requests = world.requests.of(id).map(({ verb, fate, error }) => {
      return fate === "refused" ? `${verb}:${fate} (${error?.split("\n")[0] ?? ""})` : `${verb}:${fate}`;
    });
    run.check(fits, "untrue", `${id} is ${final}, not ${[...allowed].join(" or ")}; ${requests.slice(-8).join(" ")}`);
  }
}

/** The recorded history: no resurrection, no launch against the intent, no agent lost. */
function checkHistory(run: Run, world: World, id: string, events: EventFields[], options: AuditOptions): void {
  const requests = world.requests.of(id);
  let want = "running";
  const up = new Set<string>();
  /** Whether a verb requested the stop of what runs now. */
  let asked = false;
  let last = 0;
  for (const event of events) {
    if (event.seq !== last + 1) run.bad("lost", `${id}: event ${last + 1} is missing before ${event.seq}`);
    last = event.seq;
    const at = Date.parse(event.at);
    if (event.type === "session.intent") {
      const next = (event["want"] as { want: string }).want;
      if (want === "killed" && next !== "killed" && next !== "deleted" && requests.length > 0) {
        run.check(
          covered(requests, "restore", at, slackMs),
          "untrue",
          `${id} left killed for ${next} without a restore`,
        );
      }
      want = next;
      asked ||= next !== "running";
    } else if (event.type === "launch.started") {
      run.check(want === "running", "untrue", `${id} was launched while its intent was ${want}`);
      asked = false;
    } else if (event.type === "launch.up" || event.type === "launch.adopted") up.add(event["launch"] as string);
    else if (event.type === "run.ended" && options.agentsMayDie !== true) {
      const how = event["how"] as string;
      const lived = up.has(event["launch"] as string);
      run.check(
        !lived || asked || how === "stopped",
        "ended",
        `${id}: its agent ended (${how}) although no request asked for it`,
      );
    }
  }
}

function checkProcesses(run: Run, world: World, listed: Map<string, SessionJson>): void {
  for (const [id, processes] of world.census()) {
    const want = listed.get(id)?.intent.want ?? "deleted";
    const what = processes.map((one) => `${one.pid} ${one.what}`).join("; ");
    run.check(want === "running", "left", `${id} (${want}) still has processes: ${what}`);
    const launches = new Set(processes.map(({ launch }) => launch).filter((launch) => launch !== ""));
    run.check(launches.size <= 1, "doubled", `${id} runs ${launches.size} launches: ${what}`);
  }
}

/** Each worktree whose agent noted a checksum still has those bytes, in its place or in the trash. */
export async function checkWork(run: Run, world: World): Promise<void> {
  let problems: { loss: "lost" | "doubled"; text: string }[] = [];
  let count = 0;
  // The worktree of a session that is being deleted may move between the two checks.
  const look = (): boolean => {
    const works = world.ledger.lines().filter(({ event }) => event === "work");
    const inTrash = trashTrees(world);
    count = works.length;
    problems = works.flatMap(({ session, value }): typeof problems => {
      const places = [join(world.paths.worktrees, "my-app", session), ...(inTrash.get(session) ?? [])];
      const kept = places.filter((place) => workFiles.every((name) => checksum(join(place, name)) === value));
      if (kept.length === 1) return [];
      return kept.length === 0
        ? [{ loss: "lost", text: `the work of ${session} is in none of ${places.join(", ")}` }]
        : [
            {
              loss: "doubled" as const,
              text: `the work of ${session} exists ${kept.length} times: ${kept.join(", ")}`,
            },
          ];
    });
    return problems.length === 0;
  };
  await until("the worktrees to be in one place each", look, movingMs).catch(() => undefined);
  run.count("checks", count);
  for (const { loss, text } of problems) run.bad(loss, text);
}

/** By session; read once for all of them, because a long run has hundreds. */
function trashTrees(world: World): Map<string, string[]> {
  const trees = new Map<string, string[]>();
  for (const name of world.names(world.paths.trash)) {
    const session = readRecord(world, name)?.session;
    if (session === undefined) continue;
    trees.set(session, [...(trees.get(session) ?? []), join(world.paths.trash, name, "tree")]);
  }
  return trees;
}

function checksum(path: string): string | null {
  try {
    return createHash("sha256").update(readFileSync(path)).digest("hex");
  } catch {
    return null;
  }
}

/** Files and registrations of sessions that no longer need them. */
export async function checkLeftovers(run: Run, world: World, options: AuditOptions = {}): Promise<void> {
  let left: string[] = [];
  const look = async (): Promise<boolean> => {
    left = [...(await leftovers(world)), ...(await registrations(world, options.gitMayDie ?? false))];
    return left.length === 0;
  };
  await until("leftovers to be cleared", look, 60_000).catch(() => undefined);
  run.count("checks");
  for (const one of left) run.bad("left", one);
}

async function leftovers(world: World): Promise<string[]> {
  const { paths } = world;
  const sessions = new Map((await world.call("sessions")).map((session) => [session.id, session]));
  const kept = new Set((await world.call("trash")).map(({ id }) => id));
  const visible = (directory: string): string[] => world.names(directory).filter((name) => !name.startsWith("."));
  const runs = (id: string): boolean => sessions.get(id)?.intent.want === "running";
  return [
    ...visible(paths.launches)
      .filter((id) => !runs(id))
      .map((id) => `launches/${id} of a session that does not run`),
    ...visible(paths.workers)
      .filter((id) => !sessions.has(id))
      .map((id) => `acp-workers/${id} of no session`),
    ...visible(join(paths.worktrees, "my-app"))
      .filter((id) => !mayHaveWorktree(sessions.get(id)))
      .map((id) => `worktrees/my-app/${id}, whose session is ${stateOf(sessions.get(id))}`),
    ...visible(paths.trash)
      .filter((id) => !kept.has(id))
      .map((id) => `trash/${id}, which no list shows`),
  ];
}

/** A session stopped during the creation of its worktree keeps what exists, and completes it when restored. */
function mayHaveWorktree(session: SessionJson | undefined): boolean {
  if (session === undefined) return false;
  const { workspace, intent } = session;
  return workspace === "ready" || (workspace === "planned" && intent.want !== "killed" && intent.want !== "running");
}

function stateOf(session: SessionJson | undefined): string {
  return session === undefined ? "deleted" : `${session.intent.want}, its worktree ${session.workspace}`;
}

async function registrations(world: World, gitMayDie: boolean): Promise<string[]> {
  if (gitMayDie) return [];
  const list = (await world.git(world.repo, ["worktree", "list", "--porcelain"])).split("\n\n");
  const broken = list.filter((entry) => /^(prunable|locked initializing)/m.test(entry));
  const admin = join(world.repo, ".git");
  const locks = readdirSync(admin).filter((name) => name.endsWith(".lock"));
  const empty = world
    .names(join(admin, "worktrees"))
    .filter((name) => !existsSync(join(admin, "worktrees", name, "gitdir")));
  return [
    ...broken.map((entry) => `git registration: ${entry.replaceAll("\n", ", ")}`),
    ...locks.map((name) => `.git/${name}`),
    ...empty.map((name) => `.git/worktrees/${name} without gitdir`),
  ];
}
