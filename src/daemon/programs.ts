/** Where the program of a session's agent is: on the PATH that the agent gets, or where it was at its last good launch. */
import { delimiter } from "node:path";
import { findLaunchable } from "../base/find-program.ts";
import type { AgentDefinition, Agents } from "../ports/agents.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { Store } from "../ports/store.ts";
import { notOnPath } from "../protocol/missing-program.ts";
import type { Kind, SessionState } from "../protocol/session.ts";
import type { KnownSettings } from "./known-settings.ts";

type Session = Pick<SessionState, "project" | "agent" | "kind">;

export type Program =
  | {
      is: "found";
      /** The PATH to launch it with. */
      path: string;
      /** Where it was found although it is not on the PATH that it should be on; null otherwise. */
      remembered: string | null;
    }
  | { is: "missing"; why: string };

export interface Programs {
  /** Null where the project has no such agent: the launch itself reports that. */
  of(session: Session): Program | null;
  /** After a launch that worked. */
  remember(session: Session): Promise<void>;
}

interface Remembered {
  command: string;
  directories: string[];
}

export function openPrograms(parts: {
  agents: Agents;
  settings: Pick<KnownSettings, "last">;
  store: Pick<Store, "getSetting" | "putSetting">;
}): Programs {
  const { agents, settings, store } = parts;
  const key = ({ project, agent, kind }: Session): string => `program.${project}.${agent}.${kind}`;
  const recall = (session: Session, command: string): string[] => {
    const text = store.getSetting(key(session));
    const kept = text === null ? null : (JSON.parse(text) as Remembered);
    return kept?.command === command ? kept.directories : [];
  };
  const wordsOf = (session: Session): { command: string; path: string } | null => {
    const definition = agents.of(session);
    const command = definition === null ? null : commandOf(definition, session.kind);
    if (definition === null || command === null) return null;
    return { command, path: pathFor(definition, settings.last(session.project)?.env ?? {}) };
  };
  return {
    of(session) {
      const words = wordsOf(session);
      if (words === null) return null;
      const { command, path } = words;
      const found = findLaunchable(command, path);
      if (found.is === "found") return { is: "found", path, remembered: null };
      const wider = [path, ...recall(session, command)].join(delimiter);
      const again = findLaunchable(command, wider);
      return again.is === "found"
        ? { is: "found", path: wider, remembered: again.path }
        : { is: "missing", why: whyMissing(found) };
    },
    async remember(session) {
      const words = wordsOf(session);
      const found = words === null ? null : findLaunchable(words.command, words.path);
      if (found?.is !== "found") return;
      const text = JSON.stringify({ command: words!.command, directories: found.directories } satisfies Remembered);
      if (store.getSetting(key(session)) !== text) await store.putSetting(key(session), text);
    },
  };
}

export function commandOf(definition: AgentDefinition, kind: Kind): string | null {
  return (kind === "terminal" ? definition.terminal?.start[0] : definition.chat?.command[0]) ?? null;
}

/** The PATH that the agent gets, which is also where its program is looked for. */
export function pathFor(definition: Pick<AgentDefinition, "env">, project: ProjectSettings["env"]): string {
  return definition.env["PATH"] ?? project["PATH"] ?? process.env["PATH"] ?? "";
}

/** Without a period: more may follow. */
export function whyMissing({ program, neededBy }: { program: string; neededBy: string | null }): string {
  const missing = program.startsWith("/") ? `${program} does not exist or cannot be run` : notOnPath(program);
  return neededBy === null ? missing : `${missing}; ${neededBy} needs it`;
}
