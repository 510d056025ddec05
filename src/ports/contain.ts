/** What shuts an agent in, as the runtimes and the daemon see it. */
import { HoldfastError } from "../contract/error.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { OwnFolder } from "./agents.ts";

/** One launch before it is contained. */
export interface ContainRequest {
  session: SessionState;
  launch: LaunchId;
  argv: readonly string[];
  /** Words of the agent's own command, as it is configured: files that it names have to be seen. No prompt is among them. */
  command: readonly string[];
  /** Of the whole launch: what the daemon has, below what the agent, the project and the launch itself set. */
  env: Readonly<Record<string, string>>;
  /** Names whose values were set for this launch on purpose; everything else is dropped where it may be a secret. */
  given: readonly string[];
  /** The launch's own directory: where its hook files are. */
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
  /** Complete: nothing else may be in the environment that `argv` is started with. */
  env: Record<string, string>;
  /** Whether the agent runs in a pid namespace that the process of `argv` makes, so that it ends with its first process. */
  inNamespace: boolean;
}

export interface Containing {
  /** What would keep a contained launch from working, in sentences with the fix; empty when nothing would. */
  preflight(session: Pick<SessionState, "contain">, repository?: string): Promise<string[]>;
  /** Null for a session that is not contained. Throws a HoldfastError where it cannot be; there is no way around it. */
  contain(request: ContainRequest): Promise<Contained | null>;
  /** The home as the session's agent sees it, outside; null where it has none of its own. */
  ownHome(session: Pick<SessionState, "id" | "contain">): string | null;
  /** Takes what the agent committed over into the repository. Repeatable; of a session without anything: nothing. */
  takeOver(session: Pick<SessionState, "id">): Promise<void>;
  /** The agents' socket is there: contained agents that run already are to see it, too. */
  showSocket(): void;
  /** Removes what is kept of a session that is deleted for good, once all that it committed is taken over. */
  remove(id: SessionId): Promise<void>;
}

/** Used by both runtimes: a session that must be contained is contained or not launched. Null if it needs no containment. */
export async function containedLaunch(contain: Containing | null, request: ContainRequest): Promise<Contained | null> {
  const mode = request.session.contain?.mode ?? "off";
  if (mode === "off") return null;
  const contained = (await contain?.contain(request)) ?? null;
  if (contained !== null) return contained;
  throw new HoldfastError("preflight-failed", `${request.session.id} is to be contained, which is not possible here.`);
}
