/** What the files of the chat runtime share. */
import type { Cgroups } from "../base/cgroup.ts";
import type { Agents } from "../ports/agents.ts";
import type { ChatStore } from "../ports/chat.ts";
import type { Containing } from "../ports/contain.ts";
import type { Logger } from "../ports/api.ts";
import type { SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { Bounds } from "./bounds.ts";
import type { AgentOutput } from "./agent-output.ts";
import type { AgentFiles } from "./agent-files.ts";

export class OutputSignal {
  readonly #waiting = new Map<SessionId, Set<() => void>>();

  notify(session: SessionId): void {
    const waiting = this.#waiting.get(session);
    this.#waiting.delete(session);
    for (const resume of waiting ?? []) resume();
  }

  /** Resolves at the next change, or after so many milliseconds. */
  next(session: SessionId, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(session) ?? new Set();
      const resume = (): void => {
        clearTimeout(timer);
        waiting.delete(resume);
        resolve();
      };
      const timer = setTimeout(resume, ms);
      waiting.add(resume);
      this.#waiting.set(session, waiting);
    });
  }
}

export interface Deadlines {
  /** From the start to the response to `initialize`; the slowest agent took 6 s on an idle machine. */
  initializeMs: number;
  /** For `session/new`, `session/resume` and each `session/load`, which may replay a long history. */
  openMs: number;
  /** For mode, model and options. */
  configureMs: number;
  /** How long a replay may continue after the response to the load. */
  replayMs: number;
  /** Between two attempts at a load. */
  retryMs: number;
}

export const defaultDeadlines: Deadlines = {
  // A test of an agent that never answers does not wait that long.
  initializeMs: Number(process.env["HOLDFAST_TEST_INITIALIZE_MS"] ?? 60_000),
  openMs: 120_000,
  configureMs: 10_000,
  replayMs: 10_000,
  retryMs: 1_000,
};

export interface AcpContext {
  files: AgentFiles;
  cgroups: Pick<Cgroups, "make">;
  contain: Containing | null;
  store: ChatStore;
  output: AgentOutput;
  bounds: Bounds;
  outputSignal: OutputSignal;
  agents: Agents;
  bootId: string;
  env: NodeJS.ProcessEnv;
  keeperPath: string;
  buildOf: (session: SessionState) => string;
  isStale: (session: SessionState, build: string) => boolean;
  stillOurs: () => boolean;
  hint: (session: SessionId) => void;
  log: Logger;
  deadlines: Deadlines;
  now: () => number;
}
