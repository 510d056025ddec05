/** The chat runtime: agents that speak ACP, each between two files that outlive us. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cgroups } from "../base/cgroup.ts";
import type { Agents } from "../ports/agents.ts";
import type { ChatRuntime, ChatStore, Ingest } from "../ports/chat.ts";
import type { Containing } from "../ports/contain.ts";
import type { Logger } from "../ports/api.ts";
import type { SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { adoptUnrecorded } from "./adopt.ts";
import { Bounds, defaultLimits, type Limits } from "./bounds.ts";
import { Changes, defaultDeadlines, type AcpContext, type Deadlines } from "./context.ts";
import { promptCapabilities, answerPermission, cancelTurn, configure, endTurn, sendPrompt } from "./turns.ts";
import { flush } from "./client.ts";
import { deleteByCommand, deleteConversation } from "./delete.ts";
import { Inbox } from "./agent-output.ts";
import { launch, learn } from "./launch.ts";
import { observeAll } from "./observe.ts";
import { finishSession, stop } from "./stop.ts";
import { settleCut, truncateRead } from "./truncate.ts";
import type { Worker } from "./agent-process.ts";
import { WorkerFiles } from "./agent-files.ts";
import type { FactEvent } from "../contract/event.ts";

export interface AcpRuntimeOptions {
  workersDirectory: string;
  /** The keeper script, where nothing that is installed or updated can pull it away. */
  keeperPath: string;
  agents: Agents;
  bootId: string;
  /** What agents start from, `HOLDFAST_HOME` included; secrets of the daemon must not be in it. */
  env: NodeJS.ProcessEnv;
  /** What would be launched now for this session: keeper script, adapter and its version. */
  buildOf: (session: SessionState) => string;
  /** Whether a living agent of this build should be replaced; by default, whether something else would be launched. */
  isStale?: (session: SessionState, build: string) => boolean;
  store: ChatStore;
  ingest: Ingest;
  /** Whether the lock of our home is still ours; asked before each write to an agent. */
  stillOurs: () => boolean;
  log?: Logger;
  /** Where each launch gets a cgroup; none by default. */
  cgroups?: Pick<Cgroups, "make">;
  /** What shuts contained sessions in; without it they cannot be launched. */
  contain?: Containing;
  deadlines?: Partial<Deadlines>;
  limits?: Partial<Limits>;
  /** The program that reserves and gives back; a name is looked for on our PATH. */
  fallocate?: string;
  now?: () => number;
}

/** A keeper counts 48 h without a beat; ten minutes keep that far away at no cost. */
const beatEveryMs = 10 * 60_000;
const firstBeatMs = 30_000;
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

export function openAcpRuntime(options: AcpRuntimeOptions): ChatRuntime {
  const { store, agents, log = silent } = options;
  const listeners: ((session: SessionId | null) => void)[] = [];
  const hint = (session: SessionId): void => listeners.forEach((listener) => listener(session));
  const changes = new Changes();
  const bounds = new Bounds({
    log,
    limits: { ...defaultLimits, ...options.limits },
    fallocate: options.fallocate ?? "fallocate",
    truncate: (worker) => truncateRead(context, worker),
  });
  const inbox = new Inbox({
    ingest: options.ingest,
    bounds,
    log,
    settleCut: (worker) => settleCut(context, worker),
    ended: (worker) => hint(worker.session),
    isRemoved: (path) => context.files.isRemoved(path),
    lost: (worker) => void filesLost(context, worker),
    ingested(worker, result) {
      if (result.replies) void flush(context, worker);
      changes.tell(worker.session);
      if (result.decisive) hint(worker.session);
    },
  });
  const context: AcpContext = {
    store,
    inbox,
    bounds,
    changes,
    agents,
    hint,
    log,
    bootId: options.bootId,
    env: options.env,
    keeperPath: options.keeperPath,
    buildOf: options.buildOf,
    isStale: options.isStale ?? ((session, build) => options.buildOf(session) !== build),
    stillOurs: options.stillOurs,
    files: new WorkerFiles(options.workersDirectory),
    cgroups: options.cgroups ?? { make: () => null },
    contain: options.contain ?? null,
    deadlines: { ...defaultDeadlines, ...options.deadlines },
    now: options.now ?? Date.now,
  };
  const beat = startBeat(inbox, log);

  /** The worker of a session's expected launch, adopted now if it was not yet. */
  const workerOf = async (session: SessionState): Promise<Worker | null> => {
    if (inbox.get(session.id) === undefined) await observeAll(context, [session]);
    const worker = inbox.get(session.id);
    return worker !== undefined && session.run.run !== "none" && worker.launch === session.run.launch ? worker : null;
  };

  return {
    preflight: () => Promise.resolve([]),
    observe: (sessions) => observeAll(context, sessions),
    mayHaveLeft: (session) => context.files.mayHaveLeft(session.id),
    clear: (session) => context.files.launches(session.id).length === 0 && finishSession(context, session),
    hasFiles: (id) => existsSync(context.files.sessionDirectory(id)),
    adoptUnrecorded: (session, launch, events) => adoptUnrecorded(context, session, launch, events),
    launch: (request) => launch(context, request),
    async send(session, prompt) {
      const worker = await workerOf(session);
      return worker === null
        ? { sent: "not-now", why: "the agent is not running" }
        : sendPrompt(context, worker, prompt);
    },
    stop: (session, how) => stop(context, session, how),
    async capture(session, lines) {
      return context.files.errorLines(session.id, launchOf(session), lines).join("\n");
    },
    attachCommand: (session) => ["holdfast", "attach", session.id],
    onHint: (listener) => void listeners.push(listener),
    promptCapabilities(session) {
      return session.run.run === "none" ? null : promptCapabilities(context.store, session.run.launch);
    },
    async answer(session, requestId, optionId, by) {
      const worker = await workerOf(session);
      if (worker === null) return { answered: false, why: "not-open" };
      return answerPermission(context, worker, requestId, optionId, by);
    },
    async cancel(session, how) {
      const worker = await workerOf(session);
      return worker === null ? { cancelled: "no-turn" } : cancelTurn(context, worker, how);
    },
    async endTurn(session, by) {
      const worker = await workerOf(session);
      return worker === null ? false : endTurn(context, worker, by);
    },
    async configure(session, pick, by) {
      const worker = await workerOf(session);
      return worker === null ? { told: false, why: "the agent is not running" } : configure(context, worker, pick, by);
    },
    async deleteConversation(session) {
      const worker = await workerOf(session);
      return worker === null ? "not-running" : deleteConversation(context, worker);
    },
    deleteByCommand: (session, env) => deleteByCommand(context, session, env),
    markRestarting(session) {
      const worker = inbox.get(session.id);
      if (worker !== undefined) void learn(context, worker, { restarting: true });
    },
    forget: (session) => context.files.removeAll(session.id),
    errorLines: (session, lines) => context.files.errorLines(session.id, launchOf(session), lines),
    async close() {
      clearInterval(beat);
      inbox.close();
      await Promise.allSettled(
        [...inbox.all()].flatMap((worker) => [worker.appending, worker.pumping ?? Promise.resolve()]),
      );
    },
  };
}

function launchOf(session: SessionState): Worker["launch"] | null {
  return session.run.run === "none" ? null : session.run.launch;
}

/** Tells every keeper that a daemon is there. Its content must change; the clock is only where the number comes from. */
function startBeat(inbox: Inbox, log: Logger): NodeJS.Timeout {
  let last = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    if (last !== 0 && now - last < beatEveryMs) return;
    last = now;
    for (const worker of inbox.all()) {
      try {
        writeFileSync(join(worker.directory, "beat"), `${process.pid} ${Math.round(now)}\n`, { mode: 0o600 });
      } catch (error) {
        log.debug("a keeper could not be told that we are here", { session: worker.session, error });
      }
    }
  }, firstBeatMs);
  return timer.unref();
}

async function filesLost(context: AcpContext, worker: Worker): Promise<void> {
  const { session, launch, directory } = worker;
  context.log.error("an agent's files were removed under it; it is started again", { session, directory });
  // First: whatever is asked meanwhile must not be given to it.
  worker.feederGone = true;
  try {
    await context.store.chat(session, launch, (state) => {
      const { run } = state;
      if (run.run !== "up" || run.launch !== launch) return null;
      const text = `The agent's files (${directory}) were removed while it ran: what it wrote since is lost. It is started again.`;
      const events: FactEvent[] = [{ type: "notice", level: "warn", text }];
      if (state.turn.turn === "open") {
        events.push({
          type: "turn.ended",
          stopReason: "orphaned_at_restart",
          promptId: state.turn.prompt,
          message: text,
        });
      }
      return { events };
    });
    worker.turnOpen = false;
  } catch (error) {
    worker.missingSince = null;
    worker.lossReported = false;
    context.log.warn("the loss of an agent's files could not be recorded; it is tried again", { session, error });
  }
  context.hint(session);
}
