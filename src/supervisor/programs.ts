/** Finds the program of a session's agent: on the agent's PATH, or where it was at its last successful launch. */
import { statSync } from "node:fs";
import { delimiter, dirname, isAbsolute } from "node:path";
import { findLaunchable, findProgram } from "../base/find-program.ts";
import type { AgentDefinition, Agents } from "../ports/agents.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { Store } from "../ports/store.ts";
import { notOnPath } from "../model/runs.ts";
import type { SessionState } from "../model/session.ts";
import type { Kind } from "../contract/ids.ts";
import type { KnownSettings } from "./known-settings.ts";

type Session = Pick<SessionState, "project" | "agent" | "kind" | "contain">;

export type Program =
  | {
      is: "found";
      /** The PATH to launch it with. */
      path: string;
      /** Where it was found if it is not on the expected PATH; null otherwise. */
      remembered: string | null;
    }
  | { is: "missing"; why: string };

interface Remembered {
  command: string;
  directories: string[];
  /** Earlier builds left it out. */
  files?: string[];
}

export type Programs = ReturnType<typeof openPrograms>;

export function openPrograms({
  agents,
  settings,
  store,
}: {
  agents: Agents;
  settings: Pick<KnownSettings, "last">;
  store: Pick<Store, "getSetting" | "putSetting">;
}) {
  const key = ({ project, agent, kind }: Session): string => `program.${project}.${agent}.${kind}`;
  const recall = (session: Session, command: string): Remembered => {
    const text = store.getSetting(key(session));
    const kept = text === null ? null : (JSON.parse(text) as Remembered);
    return kept?.command === command ? kept : { command, directories: [] };
  };
  const wordsOf = (session: Session): { command: string; more: string[]; path: string } | null => {
    if (session.contain?.mode === "devcontainer") return null;
    const definition = agents.of(session);
    const [command, ...more] = definition === null ? [] : argvOf(definition, session.kind);
    if (definition === null || command === undefined) return null;
    return { command, more, path: pathFor(definition, settings.last(session.project)?.env ?? {}) };
  };
  return {
    /** Null if the project has no such agent, or its program is in a container: the launch itself reports that. */
    of(session: Session): Program | null {
      const words = wordsOf(session);
      if (words === null) return null;
      const { command, more, path } = words;
      const { directories, files = [] } = recall(session, command);
      const script = more.find((word, at) => files.includes(word) && isScript(more, at) && !isFile(word));
      if (script !== undefined) return { is: "missing", why: `${script} does not exist` };
      const wider = [path, ...directories].join(delimiter);
      const found = findLaunchable(command, path);
      if (found.is === "found") {
        const wrapped = more.find((word) => files.includes(word) && isElsewhere(word, path));
        const place = wrapped === undefined ? null : findProgram(wrapped, wider);
        return { is: "found", path: place === null ? path : wider, remembered: place };
      }
      const again = findLaunchable(command, wider);
      return again.is === "found"
        ? { is: "found", path: wider, remembered: again.path }
        : { is: "missing", why: whyMissing(found) };
    },
    /** After a successful launch. */
    async remember(session: Session): Promise<void> {
      const words = wordsOf(session);
      const found = words === null ? null : findLaunchable(words.command, words.path);
      if (words === null || found?.is !== "found") return;
      const { command, more, path } = words;
      const places = more.map((word) => (isAbsolute(word) ? null : findProgram(word, path)));
      const files = more.filter((word, at) => places[at] !== null || (isAbsolute(word) && isFile(word)));
      const folders = places.flatMap((place) => (place === null ? [] : dirname(place)));
      const directories = [...new Set([...found.directories, ...folders])];
      const text = JSON.stringify({ command, directories, files } satisfies Remembered);
      if (store.getSetting(key(session)) !== text) await store.putSetting(key(session), text);
    },
    /** Arguments that were files at the last successful launch. */
    files(session: Session): readonly string[] {
      const words = wordsOf(session);
      return words === null ? [] : (recall(session, words.command).files ?? []);
    },
  };
}

/** An absolute argument that is not the value of an option: a missing log file must not keep an agent down. */
function isScript(words: readonly string[], at: number): boolean {
  return isAbsolute(words[at]!) && words[at - 1]?.startsWith("-") !== true;
}

function isElsewhere(word: string, path: string): boolean {
  return !isAbsolute(word) && findProgram(word, path) === null;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export function commandOf(definition: AgentDefinition, kind: Kind): string | null {
  return argvOf(definition, kind)[0] ?? null;
}

function argvOf({ terminal, chat }: AgentDefinition, kind: Kind): readonly string[] {
  return (kind === "terminal" ? terminal?.start : chat?.command) ?? [];
}

/** The agent's PATH, on which its program is also searched. */
export function pathFor(definition: Pick<AgentDefinition, "env">, project: ProjectSettings["env"]): string {
  return definition.env["PATH"] ?? project["PATH"] ?? process.env["PATH"] ?? "";
}

/** Without a period: more may follow. */
export function whyMissing({ program, neededBy }: { program: string; neededBy: string | null }): string {
  const missing = program.startsWith("/") ? `${program} does not exist or cannot be run` : notOnPath(program);
  return neededBy === null ? missing : `${missing}; ${neededBy} needs it`;
}
