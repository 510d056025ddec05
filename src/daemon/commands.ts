/** What clients may ask of the daemon, one handler a route. */
import { build, version } from "../base/build.ts";
import { planCleanup } from "../core/cleanup.ts";
import type { Ask, Handlers } from "../ports/commands.ts";
import type { ProjectRow } from "../ports/store.ts";
import type { TrashEntry } from "../ports/workspace.ts";
import type { CleanupRequest, ProjectAddRequest } from "../protocol/command.ts";
import { HoldfastError, messageOf } from "../protocol/error.ts";
import { asTrashId } from "../protocol/ids.ts";
import type { CleanupLine } from "../protocol/command.ts";
import type { Answers, FindingJson, InfoJson, ProjectJson, SessionJson, TrashJson } from "../protocol/wire.ts";
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
  /** What only this process can check: database, sockets. */
  selfCheck: () => FindingJson[];
}

export function createCommands(parts: Parts, loop: Loop, options: CommandsOptions): Handlers {
  const { store } = parts;
  const verb = (name: PlainVerb) => (ask: Ask): Promise<Answers["stop"]> => perform(parts, loop, name, ask);
  const json = (session: Parameters<typeof sessionJson>[2]): SessionJson => sessionJson(parts, loop, session);
  return {
    health: async () => {
      await store.probe();
      return { ok: true, version, build };
    },
    info: () => options.info(),
    daemonStop: async (ask) => {
      const answer = await stopDaemon(parts, loop, ask);
      if (answer.remaining.length === 0) options.shutDown();
      return answer;
    },
    sessions: ({ query }) =>
      store
        .sessions()
        .filter((session) => query["project"] === undefined || session.project === query["project"])
        .map(json),
    session: (ask) => json(findSession(parts, ask)),
    spawn: (ask) => spawn(parts, loop, ask),
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
      const limit = Math.min(Number(ask.query["limit"] ?? maxEvents), maxEvents);
      if (!Number.isSafeInteger(since) || since < 0 || !(limit > 0)) {
        throw new HoldfastError("usage", "`since` and `limit` are whole numbers.");
      }
      return store.events(findSession(parts, ask).id, since, limit).map(eventJson);
    },
    cleanup: (ask) => cleanup(parts, loop, ask),
    projects: () => Promise.all(store.projects().map((row) => projectJson(parts, row))),
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
    doctor: () => options.selfCheck(),
  };
}

async function stopDaemon(parts: Parts, loop: Loop, ask: Ask): Promise<Answers["daemonStop"]> {
  const { haltSessions = false } = ask.body as { haltSessions?: boolean };
  const up = parts.store.sessions().filter(({ run }) => run.run === "up" || run.run === "launching");
  if (!haltSessions) return { kept: up.length, halted: [], remaining: [] };
  const isDown = (id: (typeof up)[number]["id"]): boolean => {
    const run = parts.store.session(id)?.run.run;
    return run !== "up" && run !== "launching";
  };
  await Promise.all(
    up.map(async ({ id }) => {
      await parts.store.change(id, (state) =>
        state.intent.want === "running" ? [{ type: "session.intent", want: { want: "stopped" }, by: ask.actor }] : [],
      );
      loop.asked(id);
      await loop.waitFor(id, () => isDown(id), haltDeadlineMs);
    }),
  );
  const remaining = up.filter(({ id }) => !isDown(id)).map(({ id }) => id);
  return { kept: 0, halted: up.filter(({ id }) => isDown(id)).map(({ id }) => id), remaining };
}

async function cleanup(parts: Parts, loop: Loop, ask: Ask): Promise<CleanupLine[]> {
  const { project, dryRun = false, dead = false } = ask.body as CleanupRequest;
  const sessions = parts.store.sessions().filter((session) => project === undefined || session.project === project);
  const plan = planCleanup(
    sessions.map((session) => ({
      session,
      status: currentStatus(parts, loop.observation(session), session).status,
      runtime: runtimeFacts(loop.observation(session)),
      issueClosed: null,
    })),
    { dead },
  );
  const lines: CleanupLine[] = [];
  for (const line of plan) {
    if (line.outcome !== "would-kill" || dryRun) {
      lines.push(line);
      continue;
    }
    try {
      await perform(parts, loop, "kill", { ...ask, params: { id: line.session }, body: {}, actor: "cleanup" });
      lines.push({ session: line.session, outcome: "cleaned", why: line.why });
    } catch (error) {
      lines.push({ session: line.session, outcome: "error", why: messageOf(error) });
    }
  }
  return lines;
}

async function projectJson(parts: Parts, row: ProjectRow): Promise<ProjectJson> {
  const { id, path, prefix, defaultBranch, agent, kind, tracker } = await parts.projects.settings(row);
  const sessions = parts.store.sessions().filter((session) => session.project === row.id).length;
  return { id, path, prefix, defaultBranch, agent, kind, tracker, configFile: row.configFile, sessions };
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
  const using = parts.store
    .sessions()
    .filter((session) => session.project === id && session.intent.want !== "killed")
    .map((session) => session.id);
  if (using.length > 0) {
    throw new HoldfastError("conflict", `${id} still has sessions: ${using.join(", ")}.`, {
      hint: "Kill or delete them first; nothing was removed.",
    });
  }
  const json = await projectJson(parts, row).catch(() => ({
    ...{ id: row.id, path: row.path, prefix: row.prefix, defaultBranch: "", agent: "", kind: "terminal" as const },
    ...{ tracker: null, configFile: row.configFile, sessions: 0 },
  }));
  await parts.store.removeProject(row.id);
  return json;
}

function trashJson(entry: TrashEntry): TrashJson {
  const { id, session, path, branch, ref, trashedAt, uncommitted, unpushed } = entry;
  return { id, session, path, branch, ref, trashedAt: iso(trashedAt), uncommitted, unpushed };
}

async function findTrash(parts: Parts, id: string): Promise<TrashEntry> {
  const entries = await parts.workspaces.listTrash();
  const entry = entries.find((candidate) => candidate.id === id) ?? entries.findLast((candidate) => candidate.session === id);
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
  for (const entry of chosen) {
    await parts.workspaces.empty(asTrashId(entry.id));
    const owner = parts.store.session(entry.session);
    if (owner?.workspace.at === "trashed" && owner.workspace.trash === entry.id) {
      await parts.store.change(owner.id, () => [{ type: "workspace.gone", reason: "the trash was emptied" }]);
    }
  }
  return chosen.map(trashJson);
}
