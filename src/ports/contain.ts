/** Containment, as the runtimes and the daemon see it. */
import { HoldfastError } from "../contract/errors.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { OwnFolder } from "./agents.ts";

/** A launch before containment. */
export interface ContainRequest {
  session: SessionState;
  launch: LaunchId;
  argv: readonly string[];
  /** The agent's configured command, without prompts: files that it names must be visible. */
  command: readonly string[];
  /** The launch's complete environment. */
  env: Readonly<Record<string, string>>;
  /** Variables that were set for this launch on purpose; any other that may be a secret is dropped. */
  given: readonly string[];
  /** The launch's own directory, with its hook files. */
  directory: string;
  /** Files of `directory` that the agent reads. */
  files: readonly string[];
  /** Whether the agent's hooks write into `directory`. */
  hooks: boolean;
  /** The folders in which the agent keeps state. */
  ownFolders: readonly OwnFolder[];
}

export interface Contained {
  argv: string[];
  /** The complete environment of `argv`. */
  env: Record<string, string>;
  /** Whether `argv` creates a pid namespace for the agent, which ends with its first process. */
  inNamespace: boolean;
}

export interface Containing {
  /** Problems that would stop a contained launch, as sentences with the fix. */
  preflight(session: Pick<SessionState, "contain">, repository?: string): Promise<string[]>;
  /** Null for a session that is not contained. Throws a HoldfastError if it must be and cannot. */
  contain(request: ContainRequest): Promise<Contained | null>;
  /** The home that the session's agent sees, as a path outside; null if it does not have its own. */
  ownHome(session: Pick<SessionState, "id" | "contain">): string | null;
  /** Takes over the agent's commits into the repository. Repeatable. */
  takeOver(session: Pick<SessionState, "id">): Promise<void>;
  /** The agents' socket exists: shows it to contained agents that are already running. */
  showSocket(): void;
  /** Removes a deleted session's own folder, after taking over all of its commits. */
  remove(id: SessionId): Promise<void>;
}

/**
 * Used by both runtimes: a session that must be contained is contained or not launched. Null if it needs no
 * containment.
 */
export async function containedLaunch(contain: Containing | null, request: ContainRequest): Promise<Contained | null> {
  const mode = request.session.contain?.mode ?? "off";
  if (mode === "off") return null;
  const contained = (await contain?.contain(request)) ?? null;
  if (contained !== null) return contained;
  throw new HoldfastError("preflight-failed", `Cannot contain ${request.session.id} here.`);
}
