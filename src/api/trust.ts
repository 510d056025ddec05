/** The question whether a repository's holdfast.yaml is trusted, and its answer. What is trusted is what was shown. */
import type { ApiRequest } from "../ports/api.ts";
import type { ProjectRow } from "../ports/store.ts";
import type { TrustQuestion } from "../ports/trust.ts";
import { unsealed } from "../supervisor/trust-answers.ts";
import { HoldfastError } from "../contract/errors.ts";
import { isOff, type TrustState } from "../contract/trust.ts";
import type { FindingJson } from "../contract/daemon.ts";
import type { ProjectJson, TrustJson } from "../contract/project.ts";
import { trustDiff } from "./trust-diff.ts";
import type { Services } from "../supervisor/services.ts";
import { findProject } from "./projects.ts";
import { iso } from "../supervisor/view.ts";

/** Of a path that need not be registered. */
export async function trustAt(parts: Services, ask: ApiRequest<"trustAt">): Promise<TrustJson> {
  const path = ask.query.path ?? "";
  if (path === "") throw new HoldfastError("usage", "`path` must name a repository.");
  return trustJson(parts, await parts.projects.trustAt(path), null);
}

export async function trustOf(parts: Services, ask: ApiRequest<"trust">): Promise<TrustJson> {
  const row = findProject(parts, ask.params.id);
  return trustJson(parts, await parts.projects.trustOf(row), row);
}

export async function answerTrust(parts: Services, ask: ApiRequest<"trustAnswer">): Promise<TrustJson> {
  // Also for a shell's: whatever runs in a session may have been typed there by an agent.
  if (ask.actor.startsWith("session:")) {
    throw new HoldfastError("forbidden", "Nothing that runs in a session can trust a repository's file.", {
      hint: "Run it outside of the session.",
    });
  }
  const { digest, trust, seen } = ask.input;
  const row = findProject(parts, ask.params.id);
  const question = await parts.projects.trustOf(row);
  if (question === null || question.parts.length === 0) {
    throw new HoldfastError("conflict", `Nothing of project ${row.id} needs trust.`);
  }
  if (question.digest !== digest) {
    throw new HoldfastError(
      "conflict",
      `${question.file} has changed since it was shown; your answer does not count.`,
      {
        hint: `See what it says now: holdfast project trust ${row.id}`,
      },
    );
  }
  await parts.trust.answer(question, trust, (state) => {
    // A no to what was trusted, and the verb, are about the file and not only about this version of it.
    if (seen === undefined || seen === state) return seen === undefined || state === "trusted";
    throw new HoldfastError("conflict", `${question.file} was answered meanwhile: it is ${state}.`, {
      hint: `Change it with \`holdfast project trust ${row.id}\` or \`holdfast project untrust ${row.id}\`.`,
    });
  });
  parts.log.info("a repository's file was answered", { file: question.file, digest, trust, by: ask.actor });
  for (const one of parts.store.projects()) {
    if (one.configFile === question.file) await parts.settings.forSession(one.id).catch(() => undefined);
  }
  return trustJson(parts, question, row);
}

function trustJson(parts: Services, question: TrustQuestion | null, row: ProjectRow | null): TrustJson {
  const project = row?.id ?? null;
  if (question === null) {
    return { project, file: null, state: "none", digest: null, parts: [], changes: null, since: null, notices: [] };
  }
  const { file, digest, notices } = question;
  const state: TrustState = question.parts.length === 0 ? "none" : parts.trust.stateOf(file, digest);
  const before = state === "changed" ? parts.trust.before(file) : null;
  return {
    project,
    file,
    state,
    digest,
    parts: question.parts,
    changes: before === null ? null : trustDiff(unsealed(before.parts, question.parts), question.parts),
    since: before === null ? null : iso(before.at),
    notices,
  };
}

/** One finding per file, because one answer is about a whole file. */
export function trustFindings(projects: readonly ProjectJson[]): FindingJson[] {
  const byFile = new Map(projects.map((project) => [project.configFile ?? project.id, project]));
  return [...byFile.values()].flatMap(({ id, configFile, trust = "none", notices = [] }) => [
    ...(isOff(trust)
      ? [
          {
            check: `trust of ${id}`,
            level: trust === "declined" ? ("info" as const) : ("warn" as const),
            message: `${configFile} is not trusted: sessions of ${id} run with defaults.`,
            fix: `Review it: holdfast project trust ${id}`,
            fixable: false,
          },
        ]
      : []),
    ...notices.map((message) => ({
      check: `settings of ${id}`,
      level: "warn" as const,
      message,
      fix: null,
      fixable: false,
    })),
  ]);
}
