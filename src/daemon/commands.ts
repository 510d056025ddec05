/** What clients may ask of the daemon, one handler a route. */
import { build, version } from "../base/build.ts";
import { planCleanup } from "../core/cleanup.ts";
import { isCleared, isLive, restOf } from "../core/runs.ts";
import type { Ask, Handlers } from "../ports/commands.ts";
import type { ProjectRow } from "../ports/store.ts";
import type { TrashEntry } from "../ports/workspace.ts";
import type { CleanupLine, CleanupRequest, ProjectAddRequest } from "../protocol/command.ts";
import { HoldfastError, messageOf } from "../protocol/error.ts";
import { asSessionId, type SessionId } from "../protocol/ids.ts";
import type { SessionState } from "../protocol/session.ts";
import type { Answers, FindingJson, InfoJson, ProjectJson, SessionJson, TrashJson } from "../protocol/wire.ts";
import {
  answer,
  attachment,
  cancel,
  configure,
  dismissPrimer,
  editPrompt,
  endTurn,
  errorLog,
  killAgent,
  primer,
  queue,
  restartAgent,
  workers,
} from "./chat.ts";
import { convert } from "./convert.ts";
import { emptyEntry } from "./empty-trash.ts";
import { runtimeFacts } from "./facts.ts";
import type { Loop } from "./loop.ts";
import type { Parts } from "./parts.ts";
import { admitPrompt } from "./prompts.ts";
import { spawn } from "./spawn.ts";
import { findSession, perform, type PlainVerb } from "./verbs.ts";
import { currentStatus, eventJson, iso, sessionJson } from "./view.ts";

/** An answer holds at most so many events; the caller asks again behind the last one. */
const maxEvents = 10_000;
const haltDeadlineMs = 15_000;

export interface CommandsOptions {
  info: () => InfoJson;
  /** Ends the daemon once the answer is on its way. */
  shutDown: () => void;
  readOnly: boolean;
  /** The person's own configuration, whether or not it is there. */
  configFile: string;
  /** argv of the command line of this build. */
  cli: readonly string[];
  /** What only this process can check: database, sockets. */
  selfCheck: () => FindingJson[];
}

export function createCommands(parts: Parts, loop: Loop, options: CommandsOptions): Handlers {
  const { store } = parts;
  /** Once the sessions are being halted nothing new is begun. */
  let halting = false;
  const verb =
    (name: PlainVerb) =>
    (ask: Ask): Promise<Answers["stop"]> =>
      perform(parts, loop, name, ask);
  const json = (session: Parameters<typeof sessionJson>[2]): SessionJson => sessionJson(parts, loop, session);
  const listProjects = (): Promise<ProjectJson[]> =>
    Promise.all(store.projects().map((row) => projectJson(parts, row).catch(() => bareProject(parts, row))));
  return {
    health: async () => {
      await store.probe();
      return { ok: true, version, build };
    },
    info: () => options.info(),
    daemonStop: async (ask) => {
      const { haltSessions = false } = ask.body as { haltSessions?: boolean };
      halting = haltSessions;
      try {
        const answer = haltSessions
          ? await haltAll(parts, loop, ask)
          : { kept: liveCount(parts), halted: [], remaining: [] };
        if (answer.remaining.length === 0) options.shutDown();
        return answer;
      } finally {
        halting = false;
      }
    },
    sessions: ({ query }) =>
      store
        .sessions()
        .filter((session) => query["project"] === undefined || session.project === query["project"])
        .map(json),
    session: (ask) => json(findSession(parts, ask)),
    spawn: (ask) => {
      if (halting) throw new HoldfastError("conflict", "The sessions are being stopped; nothing new is started.");
      return spawn(parts, loop, ask);
    },
    stop: verb("stop"),
    kill: verb("kill"),
    restore: verb("restore"),
    archive: verb("archive"),
    unarchive: verb("unarchive"),
    wake: verb("wake"),
    delete: verb("delete"),
    snooze: verb("snooze"),
    rename: async (ask) => {
      const { title } = ask.body as { title: string };
      return json(
        await store.change(findSession(parts, ask).id, () => [{ type: "session.renamed", title, by: ask.actor }]),
      );
    },
    prompt: (ask) => admitPrompt(parts, loop, ask),
    events: (ask) => {
      const since = Number(ask.query["since"] ?? 0);
      const before = Number(ask.query["before"] ?? Number.MAX_SAFE_INTEGER);
      const limit = Math.min(Number(ask.query["limit"] ?? maxEvents), maxEvents);
      if (![since, before].every((place) => Number.isSafeInteger(place) && place >= 0) || !(limit > 0)) {
        throw new HoldfastError("usage", "`since`, `before` and `limit` are whole numbers.");
      }
      const session = findSession(parts, ask);
      if (ask.query["before"] === undefined) return store.events(session.id, since, limit).map(eventJson);
      // A session's sequence has no gaps: the window is known before it is read.
      const last = Math.min(before - 1, session.seq);
      const after = Math.max(since, last - Math.floor(limit));
      return last <= after ? [] : store.events(session.id, after, last - after).map(eventJson);
    },
    // Only the dashboard asks for these: they load with the first question.
    changes: async (ask) => (await import("./look.ts")).changes(parts, ask),
    patch: async (ask) => (await import("./look.ts")).patch(parts, ask),
    files: async (ask) => (await import("./look.ts")).files(parts, ask),
    work: async (ask) => (await import("./look.ts")).work(parts, ask),
    preflight: async (ask) => (await import("./preflight.ts")).preflight(parts, ask, options.readOnly),
    transcript: (ask) => parts.transcripts.read(findSession(parts, ask).id, ask.query),
    cleanup: (ask) => cleanup(parts, loop, ask),
    projects: listProjects,
    projectAdd: async (ask) => {
      const { path } = ask.body as ProjectAddRequest;
      const rows = await parts.projects.at(path, store.projects());
      for (const row of rows) await store.putProject(row);
      return Promise.all(rows.map((row) => projectJson(parts, row)));
    },
    projectRemove: (ask) => removeProject(parts, ask),
    trash: async () => (await parts.workspaces.listTrash()).map(trashJson),
    trashRestore: (ask) => restoreFromTrash(parts, loop, ask),
    trashEmpty: (ask) => emptyTrash(parts, ask),
    doctor: async ({ query }) =>
      query["full"] === "1" ? (await import("./full-doctor.ts")).fullDoctor(options.cli) : options.selfCheck(),
    settings: async () => (await import("./settings.ts")).settings(parts, options, await listProjects()),
    workers: () => workers(parts, loop),
    answer: (ask) => answer(parts, loop, ask),
    cancel: (ask) => cancel(parts, ask),
    endTurn: (ask) => endTurn(parts, loop, ask),
    configure: (ask) => configure(parts, loop, ask),
    acpKill: (ask) => killAgent(parts, loop, ask),
    acpRestart: (ask) => restartAgent(parts, loop, ask),
    acpLogs: (ask) => errorLog(parts, ask),
    primer: (ask) => primer(parts, ask),
    primerDismiss: (ask) => dismissPrimer(parts, loop, ask),
    convert: (ask) => convert(parts, loop, ask),
    promptEdit: (ask) => editPrompt(parts, loop, ask),
    attachment: (ask) => attachment(parts, ask),
    queue: (ask) => queue(parts, findSession(parts, ask)),
  };
}

function liveCount(parts: Parts): number {
  return parts.store.sessions().filter(({ run }) => isLive(run)).length;
}

/** Everything that runs, and everything that would be started: also a session that is still being made. */
async function haltAll(parts: Parts, loop: Loop, ask: Ask): Promise<Answers["daemonStop"]> {
  const wanted = parts.store
    .sessions()
    .filter(
      (session) =>
        isLive(session.run) || (session.intent.want === "running" && restOf(session, parts.restore) === null),
    );
  const isDown = (id: SessionId): boolean => {
    const run = parts.store.session(id)?.run;
    return !loop.isBusy(id) && (run === undefined || !isLive(run));
  };
  await Promise.all(
    wanted.map(async ({ id }) => {
      await parts.store.change(id, (state) =>
        state.intent.want === "running" ? [{ type: "session.intent", want: { want: "stopped" }, by: ask.actor }] : [],
      );
      loop.asked(id);
      await loop.waitFor(id, () => isDown(id), haltDeadlineMs);
    }),
  );
  const ids = wanted.map(({ id }) => id);
  return { kept: 0, halted: ids.filter(isDown), remaining: ids.filter((id) => !isDown(id)) };
}

async function cleanup(parts: Parts, loop: Loop, ask: Ask): Promise<CleanupLine[]> {
  const { project, dryRun = false, dead = false } = ask.body as CleanupRequest;
  const sessions = parts.store.sessions().filter((session) => project === undefined || session.project === project);
  const plan = judge(parts, loop, sessions, dead);
  const lines: CleanupLine[] = [];
  for (const line of plan) {
    if (line.outcome !== "would-kill" || dryRun) {
      lines.push(line);
      continue;
    }
    try {
      lines.push(await cleanOne(parts, loop, ask, line, dead));
    } catch (error) {
      lines.push({ session: line.session, outcome: "error", why: messageOf(error) });
    }
  }
  return lines;
}

function judge(parts: Parts, loop: Loop, sessions: readonly SessionState[], dead: boolean): CleanupLine[] {
  const candidates = sessions.map((session) => ({
    session,
    status: currentStatus(parts, loop.observation(session), session).status,
    runtime: runtimeFacts(loop.observation(session)),
    issueClosed: null,
  }));
  return planCleanup(candidates, { dead });
}

/** Judged once more right before it is ended: the person may have brought it back meanwhile. */
async function cleanOne(parts: Parts, loop: Loop, ask: Ask, line: CleanupLine, dead: boolean): Promise<CleanupLine> {
  const session = parts.store.session(asSessionId(line.session));
  const now = session === null ? undefined : judge(parts, loop, [session], dead)[0];
  if (now?.outcome !== "would-kill") return now ?? { session: line.session, outcome: "skipped", why: "it is gone" };
  const killed = await perform(parts, loop, "kill", {
    ...ask,
    params: { id: line.session },
    body: {},
    actor: "cleanup",
  });
  return killed.done
    ? { session: line.session, outcome: "cleaned", why: line.why }
    : { session: line.session, outcome: "error", why: killed.notes.join(" ") };
}

async function projectJson(parts: Parts, row: ProjectRow): Promise<ProjectJson> {
  const { id, path, prefix, defaultBranch, agent, kind, tracker } = await parts.settings.forSession(row.id);
  const sessions = parts.store.sessions().filter((session) => session.project === row.id).length;
  return { id, path, prefix, defaultBranch, agent, kind, tracker, configFile: row.configFile, sessions };
}

/** What is registered, where the project's file was never readable. */
function bareProject(parts: Parts, row: ProjectRow): ProjectJson {
  const { id, path, prefix, configFile } = row;
  const sessions = parts.store.sessions().filter((session) => session.project === id).length;
  return { id, path, prefix, configFile, sessions, defaultBranch: "", agent: "", kind: "terminal", tracker: null };
}

async function removeProject(parts: Parts, ask: Ask): Promise<ProjectJson> {
  const id = ask.params["id"] ?? "";
  const row = parts.store.projects().find((project) => project.id === id);
  if (row === undefined) {
    const known = parts.store.projects().map((project) => project.id);
    throw new HoldfastError("not-found", `Unknown project: ${id}`, {
      hint: known.length === 0 ? "No project is registered." : `Registered projects: ${known.join(", ")}.`,
    });
  }
  const using = [...parts.store.sessions(), ...parts.store.deleting()]
    .filter((session) => session.project === id && !isCleared(session))
    .map((session) => session.id);
  if (using.length > 0) {
    throw new HoldfastError("conflict", `${id} still has sessions: ${using.join(", ")}.`, {
      hint: "Kill or delete them first; nothing was removed.",
    });
  }
  const json = await projectJson(parts, row).catch(() => bareProject(parts, row));
  await parts.store.removeProject(row.id);
  return json;
}

function trashJson(entry: TrashEntry): TrashJson {
  const { id, session, path, branch, ref, trashedAt, uncommitted, unpushed } = entry;
  return { id, session, path, branch, ref, trashedAt: iso(trashedAt), uncommitted, unpushed };
}

async function findTrash(parts: Parts, id: string): Promise<TrashEntry> {
  const entries = await parts.workspaces.listTrash();
  const entry =
    entries.find((candidate) => candidate.id === id) ?? entries.findLast((candidate) => candidate.session === id);
  if (entry === undefined) {
    throw new HoldfastError("not-found", `Nothing in the trash is called ${id}.`, { hint: "See `holdfast trash ls`." });
  }
  return entry;
}

async function restoreFromTrash(parts: Parts, loop: Loop, ask: Ask): Promise<TrashJson> {
  const entry = await findTrash(parts, ask.params["id"] ?? "");
  const owner = parts.store.session(entry.session);
  if (owner !== null && owner.intent.want !== "deleted" && owner.workspace.at === "trashed") {
    throw new HoldfastError("conflict", `${entry.id} belongs to session ${entry.session}, which still exists.`, {
      hint: `Bring both back with: holdfast session restore ${entry.session}`,
    });
  }
  await parts.workspaces.restore(entry.id);
  loop.wake(null);
  return trashJson(entry);
}

async function emptyTrash(parts: Parts, ask: Ask): Promise<TrashJson[]> {
  const { id, olderThanDays } = ask.body as { id?: string; olderThanDays?: number };
  const all = id === undefined ? await parts.workspaces.listTrash() : [await findTrash(parts, id)];
  const before = parts.clock.now() - (olderThanDays ?? 0) * 24 * 3_600_000;
  const chosen = all.filter((entry) => olderThanDays === undefined || entry.trashedAt < before);
  for (const entry of chosen) await emptyEntry(parts, entry, "the trash was emptied");
  return chosen.map(trashJson);
}
