/** The services of the daemon, named by their ports. Only main.ts knows each implementation; functions take a `Pick` of what they use. */
import type { ChatRuntime } from "../ports/chat.ts";
import type { Clock } from "../ports/clock.ts";
import type { Containing } from "../ports/contain.ts";
import type { Logger } from "../ports/api.ts";
import type { Agents } from "../ports/agents.ts";
import type { Projects } from "../ports/projects.ts";
import type { TerminalRuntime } from "../ports/runtime.ts";
import type { Store } from "../ports/store.ts";
import type { Worktrees } from "../ports/worktree.ts";
import type { SessionId } from "../contract/ids.ts";
import type { Capabilities } from "./callers/callers.ts";
import type { Transcripts } from "./transcripts.ts";
import type { KnownSettings } from "./known-settings.ts";
import type { RuleBook } from "../ports/permission-rules.ts";
import type { Programs } from "./programs.ts";
import type { TrustStore } from "./trust-answers.ts";

export interface Services {
  store: Store;
  runtimes: { terminal: TerminalRuntime; chat: ChatRuntime };
  workspaces: Worktrees;
  agents: Agents;
  contain: Containing;
  projects: Projects;
  settings: KnownSettings;
  trust: TrustStore;
  programs: Programs;
  transcripts: Transcripts;
  rules: RuleBook;
  clock: Clock;
  log: Logger;
  /** Where worktrees go: `<worktrees>/<project>/<session>`. */
  worktrees: string;
  home: string;
  /** The socket for agents, and the capabilities they present there. */
  agentsSocket: string;
  capabilities: Capabilities;
  /** False after `start --no-restore`. */
  restore: boolean;
  /** When a tracker last confirmed a session's recorded pull requests; null before that. */
  polledAt: (id: SessionId) => number | null;
  issuePolledAt: (id: SessionId) => number | null;
}
