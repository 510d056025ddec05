/** What clients may ask of the daemon, one handler a route. */
import { build, version } from "../base/program.ts";
import { isLive } from "../model/runs.ts";
import type { ApiRequest, Handlers } from "../ports/api.ts";
import type { TrashEntry } from "../ports/worktree.ts";
import { HoldfastError } from "../contract/errors.ts";
import { eventPageChars } from "../contract/stream.ts";
import type { Output } from "../contract/operations.ts";
import type { FindingJson, InfoJson } from "../contract/daemon.ts";
import type { ProjectJson } from "../contract/project.ts";
import type { SessionJson } from "../contract/session.ts";
import type { TrashJson } from "../contract/trash.ts";
import { isOlder } from "../model/trash-days.ts";
import { commitVerb } from "../supervisor/apply-verb.ts";
import { emptyEntry, trashDaysOf, trashUntil } from "../supervisor/worktrees.ts";
import { visibleTo } from "./authorize.ts";
import { Halt } from "./halt.ts";
import type { Loop } from "../supervisor/loop.ts";
import type { Services } from "../supervisor/services.ts";
import { PendingSpawns } from "./pending-spawns.ts";
import { bareProject, projectJson, removeProject } from "./projects.ts";
import type { LazyPush } from "../integrations/notifiers/lazy-push.ts";
import type { LazyTracking } from "../integrations/trackers/lazy-tracking.ts";
import { findSession, runVerb, type PlainVerb } from "./run-verb.ts";
import { eventJson, iso, sessionJson } from "../supervisor/view.ts";

/** An answer holds at most so many events; the caller asks again behind the last one. */
const maxEvents = 10_000;
/** A whole screen of a large terminal; more is scrollback, up to what tmux keeps. */
const defaultScreenLines = 60;
const maxScreenLines = 20_000;

export interface CommandsOptions {
  info: () => InfoJson;
  /** Ends the daemon once the answer is on its way. */
  shutDown: () => void;
  readOnly: boolean;
  /** Projects were added or removed. */
  onProjects: () => void;
  /** The person's own configuration, whether or not it is there. */
  configFile: string;
  /** argv of the command line of this build. */
  cli: readonly string[];
  /** What only this process can check: database, sockets. */
  selfCheck: () => Promise<FindingJson[]>;
  tracking: LazyTracking;
  push: LazyPush;
}

export function createCommands(parts: Services, loop: Loop, options: CommandsOptions): Handlers {
  const { store } = parts;
  const halt = new Halt(parts, loop, options.shutDown);
  const pending = new PendingSpawns();
  const verb =
    (name: Exclude<PlainVerb, "snooze">) =>
    (ask: ApiRequest<typeof name>): Promise<Output<"stop">> =>
      runVerb(parts, loop, { verb: name }, ask);
  const json = (session: Parameters<typeof sessionJson>[2]): SessionJson => sessionJson(parts, loop, session);
  // Asked for by name, so that a starting daemon need not load what each of them takes.
  const chat = () => import("./chat.ts");
  const permissions = () => import("./permissions.ts");
  const listProjects = (): Promise<ProjectJson[]> =>
    Promise.all(store.projects().map((row) => projectJson(parts, row).catch(() => bareProject(parts, row))));
  return {
    health: async ({ isKnown }) => {
      // A stranger learns that it answers, and causes neither a write nor a query.
      if (!isKnown) return { ok: true };
      await store.probe();
      return { ok: true, version, build };
    },
    info: () => options.info(),
    daemonStop: async (ask) => {
      const { haltSessions = false } = ask.input;
      if (haltSessions) return halt.begin(ask.actor);
      options.shutDown();
      return { kept: liveCount(parts), halted: [], remaining: [] };
    },
    sessions: ({ query, actor }) =>
      visibleTo(parts, actor, store.sessions())
        .filter((session) => query.project === undefined || session.project === query.project)
        .map(json),
    session: (ask) => json(findSession(parts, ask)),
    spawn: async (ask) => {
      if (halt.isOn) throw new HoldfastError("conflict", "The sessions are being stopped; nothing new is started.");
      return (await import("./spawn.ts")).spawn(parts, loop, options.tracking, pending, ask);
    },
    spawning: ({ params }) => ({ session: pending.awaited(params.id) }),
    stop: verb("stop"),
    kill: verb("kill"),
    restore: verb("restore"),
    archive: verb("archive"),
    unarchive: verb("unarchive"),
    wake: verb("wake"),
    delete: verb("delete"),
    snooze: (ask) => runVerb(parts, loop, { verb: "snooze", until: parts.clock.now() + ask.input.forMs }, ask),
    rename: async (ask) => {
      const { title } = ask.input;
      return json(await commitVerb(parts, loop, findSession(parts, ask), { verb: "rename", title }, ask.actor));
    },
    prompt: async (ask) => (await import("./prompts.ts")).admitPrompt(parts, loop, ask),
    events: (ask) => {
      const since = Number(ask.query.since ?? 0);
      const before = Number(ask.query.before ?? Number.MAX_SAFE_INTEGER);
      const limit = Math.min(Number(ask.query.limit ?? maxEvents), maxEvents);
      if (![since, before].every((place) => Number.isSafeInteger(place) && place >= 0) || !(limit > 0)) {
        throw new HoldfastError("usage", "`since`, `before` and `limit` are whole numbers.");
      }
      const session = findSession(parts, ask);
      const newest = ask.query.before !== undefined;
      const wanted = { after: since, before, limit: Math.floor(limit), chars: eventPageChars, newest };
      return store.someEvents(session.id, wanted).map(eventJson);
    },
    // Only the dashboard asks for these: they load with the first question.
    changes: async (ask) => (await import("./worktree.ts")).changes(parts, ask),
    patch: async (ask) => (await import("./worktree.ts")).patch(parts, ask),
    files: async (ask) => (await import("./worktree.ts")).files(parts, ask),
    work: async (ask) => (await import("./worktree.ts")).work(parts, ask),
    preflight: async (ask) => (await import("./preflight.ts")).preflight(parts, ask, options.readOnly),
    transcript: (ask) => parts.transcripts.read(findSession(parts, ask).id, ask.query),
    cleanup: async (ask) => (await import("./cleanup.ts")).cleanup(parts, loop, options.tracking, ask),
    projects: async ({ actor }) => visibleTo(parts, actor, await listProjects()),
    projectAdd: async (ask) => {
      const { path, move = false } = ask.input;
      const rows = await parts.projects.at(path, store.projects(), { move });
      for (const row of rows) await store.putProject(row);
      options.onProjects();
      return Promise.all(rows.map((row) => projectJson(parts, row)));
    },
    projectRemove: async (ask) => {
      const removed = await removeProject(parts, ask);
      options.onProjects();
      return removed;
    },
    trustAt: async (ask) => (await import("./trust.ts")).trustAt(parts, ask),
    trust: async (ask) => (await import("./trust.ts")).trustOf(parts, ask),
    trustAnswer: async (ask) => {
      const answered = await (await import("./trust.ts")).answerTrust(parts, ask);
      options.onProjects();
      return answered;
    },
    trash: async () => (await parts.workspaces.listTrash()).map(trashJson(parts)),
    trashRestore: (ask) => restoreFromTrash(parts, loop, ask),
    trashEmpty: (ask) => emptyTrash(parts, ask),
    doctor: async ({ query, signal }) => {
      if (query.full === "1") return (await import("./full-doctor.ts")).fullDoctor(options.cli, signal);
      const { trackerFinding } = await import("../integrations/trackers/health.ts");
      const trackers = (await options.tracking.report()).map(trackerFinding);
      const pushes = options.push.isUsed() ? await (await import("./push.ts")).findings(options.push) : [];
      const { trustFindings } = await import("./trust.ts");
      const rules = await (await permissions()).ruleFindings(parts);
      const own = await options.selfCheck();
      return [...own, ...trustFindings(await listProjects()), ...trackers, ...pushes, ...rules];
    },
    settings: async () => (await import("./settings.ts")).settings(parts, options, await listProjects()),
    workers: async () => (await chat()).workers(parts, loop),
    answer: async (ask) => (await chat()).answer(parts, loop, ask),
    questions: async (ask) => (await permissions()).questions(parts, ask),
    permissionRules: async () => (await permissions()).listRules(parts),
    permissionTest: async (ask) => (await permissions()).testRules(parts, ask),
    cancel: async (ask) => (await chat()).cancel(parts, ask),
    endTurn: async (ask) => (await chat()).endTurn(parts, loop, ask),
    configure: async (ask) => (await chat()).configure(parts, loop, ask),
    acpKill: async (ask) => (await chat()).killAgent(parts, loop, ask),
    acpRestart: async (ask) => (await chat()).restartAgent(parts, loop, ask),
    acpLogs: async (ask) => (await chat()).errorLog(parts, ask),
    screen: (ask) => screen(parts, ask),
    primer: async (ask) => (await chat()).primer(parts, ask),
    primerDismiss: async (ask) => (await chat()).dismissPrimer(parts, loop, ask),
    convert: async (ask) => (await import("./convert.ts")).convert(parts, loop, ask),
    promptEdit: async (ask) => (await chat()).editPrompt(parts, loop, ask),
    attachment: async (ask) => (await chat()).attachment(parts, ask),
    queue: async (ask) => (await chat()).queue(parts, findSession(parts, ask)),
    trackers: () => options.tracking.report(),
    trackersRefresh: (ask) => options.tracking.refresh(ask.input.project),
    claimPullRequest: async (ask) => (await import("./claim.ts")).claimPullRequest(parts, loop, options.tracking, ask),
    push: async () => (await import("./push.ts")).browsers(options.push),
    pushSubscribe: async (ask) => (await import("./push.ts")).subscribe(options.push, ask),
    pushRemove: async (ask) => (await import("./push.ts")).remove(options.push, ask),
    pushTest: async (ask) => (await import("./push.ts")).test(options.push, ask),
    webhook: (ask) => options.tracking.webhook(ask.params.id, ask.input),
  };
}

/** Without a terminal there is nothing to see: the transcript says what a chat agent does. */
async function screen(parts: Services, ask: ApiRequest<"screen">): Promise<Output<"screen">> {
  const session = findSession(parts, ask);
  const lines = Number(ask.query.lines ?? defaultScreenLines);
  if (!Number.isSafeInteger(lines) || lines < 1) throw new HoldfastError("usage", "`lines` is a whole number from 1.");
  if (session.kind === "chat") {
    throw new HoldfastError("conflict", `${session.id} is a chat session and has no screen.`, {
      hint: `Read it with: holdfast acp history ${session.id}`,
    });
  }
  const text = await parts.runtimes.terminal.capture(session, Math.min(lines, maxScreenLines));
  return { lines: text === "" ? [] : text.split("\n") };
}

function liveCount(parts: Services): number {
  return parts.store.sessions().filter(({ run }) => isLive(run)).length;
}

function trashJson(parts: Services): (entry: TrashEntry) => TrashJson {
  const until = trashUntil(parts);
  const daysOf = trashDaysOf(parts);
  return (entry) => {
    const { id, session, path, branch, ref, trashedAt, uncommitted, unpushed } = entry;
    return {
      id,
      session,
      path,
      branch,
      ref,
      trashedAt: iso(trashedAt),
      keptUntil: until(entry),
      days: daysOf(entry),
      uncommitted,
      unpushed,
    };
  };
}

async function findTrash(parts: Services, id: string): Promise<TrashEntry> {
  const entries = await parts.workspaces.listTrash();
  const entry =
    entries.find((candidate) => candidate.id === id) ?? entries.findLast((candidate) => candidate.session === id);
  if (entry === undefined) {
    throw new HoldfastError("not-found", `Nothing in the trash is called ${id}.`, { hint: "See `holdfast trash ls`." });
  }
  return entry;
}

async function restoreFromTrash(parts: Services, loop: Loop, ask: ApiRequest<"trashRestore">): Promise<TrashJson> {
  const entry = await findTrash(parts, ask.params.id);
  const owner = parts.store.session(entry.session);
  if (owner !== null && owner.intent.want !== "deleted" && owner.workspace.at === "trashed") {
    throw new HoldfastError("conflict", `${entry.id} belongs to session ${entry.session}, which still exists.`, {
      hint: `Bring both back with: holdfast session restore ${entry.session}`,
    });
  }
  await parts.workspaces.restore(entry.id);
  loop.wake(null);
  return trashJson(parts)(entry);
}

async function emptyTrash(parts: Services, ask: ApiRequest<"trashEmpty">): Promise<TrashJson[]> {
  const { id, olderThanDays } = ask.input;
  const all = id === undefined ? await parts.workspaces.listTrash() : [await findTrash(parts, id)];
  const daysOf = trashDaysOf(parts);
  const chosen = all.filter((entry) => olderThanDays === undefined || isOlder(daysOf(entry), olderThanDays));
  for (const entry of chosen) await emptyEntry(parts, entry, "the trash was emptied");
  return chosen.map(trashJson(parts));
}
