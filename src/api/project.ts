/** Registered projects, and trust in their holdfast.yaml: only the version that was shown can be trusted. */
import { finding, type FindingJson } from "../contract/daemon.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { ProjectJson, TrustJson } from "../contract/project.ts";
import { isOff, type TrustState } from "../contract/trust.ts";
import { isCleared } from "../model/runs.ts";
import type { ApiRequest, Handlers } from "../ports/api.ts";
import type { ProjectRow } from "../ports/store.ts";
import type { TrustQuestion } from "../ports/trust.ts";
import type { Services } from "../supervisor/services.ts";
import { unsealed } from "../supervisor/trust-answers.ts";
import { iso } from "../supervisor/view.ts";
import { visibleTo } from "./authorize.ts";
import { findProject } from "./find.ts";
import { trustDiff } from "./trust-diff.ts";

type Needs = Pick<Services, "store" | "agents" | "projects" | "settings" | "trust" | "log">;

/** @param onChange is called after projects or their trust changed. */
export function projectHandlers(
  services: Needs,
  onChange: () => void,
): Handlers<"projects" | "projectAdd" | "projectRemove" | "trustAt" | "trust" | "trustAnswer"> {
  const { store, projects } = services;
  return {
    projects: async ({ actor }) => visibleTo(services, actor, await listProjects(services)),
    projectAdd: async ({ input: { path, move = false } }) => {
      const rows = await projects.at(path, store.projects(), { move });
      for (const row of rows) await store.putProject(row);
      onChange();
      return Promise.all(rows.map((row) => projectJson(services, row)));
    },
    projectRemove: async ({ params }) => {
      const row = findProject(services, params.id);
      const using = [...store.sessions(), ...store.deleting()]
        .filter((session) => session.project === row.id && !isCleared(session))
        .map((session) => session.id);
      if (using.length > 0) {
        throw new HoldfastError("conflict", `${row.id} still has sessions: ${using.join(", ")}.`, {
          hint: "Kill or delete them first; nothing was removed.",
        });
      }
      const json = await knownJson(services, row);
      await store.removeProject(row.id);
      onChange();
      return json;
    },
    trustAt: async ({ query: { path = "" } }) => {
      if (path === "") throw new HoldfastError("usage", "`path` must name a repository.");
      return trustJson(services, await projects.trustAt(path), null);
    },
    trust: async ({ params }) => {
      const row = findProject(services, params.id);
      return trustJson(services, await projects.trustOf(row), row);
    },
    trustAnswer: async (request) => {
      const answered = await answerTrust(services, request);
      onChange();
      return answered;
    },
  };
}

export function listProjects(services: Pick<Services, "store" | "settings">): Promise<ProjectJson[]> {
  return Promise.all(services.store.projects().map((row) => knownJson(services, row)));
}

/** The registered values alone if the project's file was never readable. */
function knownJson(services: Pick<Services, "store" | "settings">, row: ProjectRow): Promise<ProjectJson> {
  const unread = { defaultBranch: "", agent: "", kind: "terminal" as const, tracker: null };
  return projectJson(services, row).catch(() => ({ ...registered(services, row), ...unread }));
}

function registered({ store }: Pick<Services, "store">, { id, path, prefix, configFile }: ProjectRow) {
  const sessions = store.sessions().filter((session) => session.project === id).length;
  return { id, path, prefix, configFile, sessions };
}

async function projectJson(services: Pick<Services, "store" | "settings">, row: ProjectRow): Promise<ProjectJson> {
  const settings = await services.settings.forSession(row.id);
  const { path, prefix, defaultBranch, agent, kind, tracker, trust } = settings;
  const own = { path, prefix, defaultBranch, agent, kind, tracker, trust: trust.state, notices: trust.notices };
  return { ...registered(services, row), ...own };
}

async function answerTrust(services: Needs, request: ApiRequest<"trustAnswer">): Promise<TrustJson> {
  // A shell's caller too: an agent may have typed whatever runs in a session.
  if (request.actor.startsWith("session:")) {
    throw new HoldfastError("forbidden", "A program that runs in a session cannot trust a repository's file.", {
      hint: "Run it outside of the session.",
    });
  }
  const { digest, trust, seen } = request.input;
  const row = findProject(services, request.params.id);
  const question = await services.projects.trustOf(row);
  if (question === null || question.parts.length === 0) {
    throw new HoldfastError("conflict", `Project ${row.id} has no settings that need trust.`);
  }
  const { file } = question;
  if (question.digest !== digest) {
    throw new HoldfastError("conflict", `${file} has changed since it was shown; your answer does not count.`, {
      hint: `Review the current version: holdfast project trust ${row.id}`,
    });
  }
  await services.trust.answer(question, trust, (state) => {
    // Declining a trusted file, and the command line's verb, are about the file and not only about this version.
    if (seen === undefined || seen === state) return seen === undefined || state === "trusted";
    throw new HoldfastError("conflict", `${file} was answered meanwhile: it is ${state}.`, {
      hint: `Change it with \`holdfast project trust ${row.id}\` or \`holdfast project untrust ${row.id}\`.`,
    });
  });
  services.log.info("trust answered", { file, digest, trust, by: request.actor });
  for (const one of services.store.projects()) {
    if (one.configFile === file) await services.settings.forSession(one.id).catch(() => undefined);
  }
  return trustJson(services, question, row);
}

function trustJson({ trust }: Needs, question: TrustQuestion | null, row: ProjectRow | null): TrustJson {
  const project = row?.id ?? null;
  if (question === null) {
    return { project, file: null, state: "none", digest: null, parts: [], changes: null, since: null, notices: [] };
  }
  const { file, digest, parts, notices } = question;
  const state: TrustState = parts.length === 0 ? "none" : trust.stateOf(file, digest);
  const before = state === "changed" ? trust.before(file) : null;
  const changes = before === null ? null : trustDiff(unsealed(before.parts, parts), parts);
  return { project, file, state, digest, parts, changes, since: before === null ? null : iso(before.at), notices };
}

/** One finding per file, because one answer is about a complete file. */
export function trustFindings(projects: readonly ProjectJson[]): FindingJson[] {
  const byFile = new Map(projects.map((project) => [project.configFile ?? project.id, project]));
  return [...byFile.values()].flatMap(({ id, configFile, trust = "none", notices = [] }) => {
    const message = `${configFile} is not trusted: sessions of ${id} run with defaults.`;
    const level = trust === "declined" ? "info" : "warn";
    return [
      ...(isOff(trust) ? [finding(`trust of ${id}`, level, message, `Review it: holdfast project trust ${id}`)] : []),
      ...notices.map((notice) => finding(`settings of ${id}`, "warn", notice)),
    ];
  });
}
