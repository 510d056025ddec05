/** The chat runtime: ACP agents, each between two files that outlive the daemon. */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Cgroups } from "../base/cgroup.ts";
import type { Agents } from "../ports/agents.ts";
import type { ChatRuntime, ChatStore, Ingest } from "../ports/chat.ts";
import type { Containing } from "../ports/contain.ts";
import type { Logger } from "../ports/api.ts";
import type { SessionId } from "../contract/ids.ts";
import { expectedLaunch } from "../model/runs.ts";
import type { SessionState } from "../model/session.ts";
import { adoptUnrecorded } from "./adopt.ts";
import { Bounds, defaultLimits, type Limits } from "./bounds.ts";
import { OutputSignal, defaultDeadlines, type AcpContext, type Deadlines } from "./context.ts";
import { promptCapabilities, answerPermission, cancelTurn, configure, endTurn, sendPrompt } from "./turns.ts";
import { flush } from "./client.ts";
import { deleteByCommand, deleteConversation } from "./delete.ts";
import { AgentOutput } from "./agent-output.ts";
import { launch, learn } from "./launch.ts";
import { observeAll } from "./observe.ts";
import { finishSession, stop } from "./stop.ts";
import { settleCut, truncateRead } from "./truncate.ts";
import type { AgentProcess } from "./agent-process.ts";
import { AgentFiles } from "./agent-files.ts";
import type { FactEvent } from "../contract/event.ts";

export interface AcpRuntimeOptions {
  workersDirectory: string;
  /** The keeper script, in the home: an update of Holdfast does not remove it. */
  keeperPath: string;
  agents: Agents;
  bootId: string;
  /** The agents' base environment, with `HOLDFAST_HOME` and without the daemon's secrets. */
  env: NodeJS.ProcessEnv;
  /** The build a launch would start now: keeper script, adapter and its version. */
  buildOf: (session: SessionState) => string;
  /** Whether a running agent of this build should be replaced; by default, if a launch would start another build. */
  isStale?: (session: SessionState, build: string) => boolean;
  store: ChatStore;
  ingest: Ingest;
  /** Whether this daemon still has the lock of its home; checked before each write to an agent. */
  stillOurs: () => boolean;
  log?: Logger;
  /** Creates a cgroup per launch; none by default. */
  cgroups?: Pick<Cgroups, "make">;
  /** Without it contained sessions cannot be launched. */
  contain?: Containing;
  deadlines?: Partial<Deadlines>;
  limits?: Partial<Limits>;
  /** The fallocate(1) program. */
  fallocate?: string;
  now?: () => number;
}

/** A keeper gives up after 48 h without a heartbeat. */
const beatEveryMs = 10 * 60_000;
const firstBeatMs = 30_000;
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

export function openAcpRuntime(options: AcpRuntimeOptions): ChatRuntime {
  const { store, agents, log = silent } = options;
  const listeners: ((session: SessionId | null) => void)[] = [];
  const hint = (session: SessionId): void => listeners.forEach((listener) => listener(session));
  const outputSignal = new OutputSignal();
  const bounds = new Bounds({
    log,
    limits: { ...defaultLimits, ...options.limits },
    fallocate: options.fallocate ?? "fallocate",
    truncate: (proc) => truncateRead(context, proc),
  });
  const output = new AgentOutput({
    ingest: options.ingest,
    bounds,
    log,
    settleCut: (proc) => settleCut(context, proc),
    ended: (proc) => hint(proc.session),
    isRemoved: (path) => context.files.isRemoved(path),
    lost: (proc) => void filesLost(context, proc),
    ingested(proc, result) {
      if (result.replies) void flush(context, proc);
      outputSignal.notify(proc.session);
      if (result.decisive) hint(proc.session);
    },
  });
  const context: AcpContext = {
    store,
    output,
    bounds,
    outputSignal,
    agents,
    hint,
    log,
    bootId: options.bootId,
    env: options.env,
    keeperPath: options.keeperPath,
    buildOf: options.buildOf,
    isStale: options.isStale ?? ((session, build) => options.buildOf(session) !== build),
    stillOurs: options.stillOurs,
    files: new AgentFiles(options.workersDirectory),
    cgroups: options.cgroups ?? { make: () => null },
    contain: options.contain ?? null,
    deadlines: { ...defaultDeadlines, ...options.deadlines },
    now: options.now ?? Date.now,
  };
  const beat = startBeat(output, log);

  /** The process of a session's expected launch, adopted now if it was not yet. */
  const processOf = async (session: SessionState): Promise<AgentProcess | null> => {
    if (output.get(session.id) === undefined) await observeAll(context, [session]);
    const proc = output.get(session.id);
    return proc !== undefined && proc.launch === expectedLaunch(session) ? proc : null;
  };

  return {
    preflight: () => Promise.resolve([]),
    observe: (sessions) => observeAll(context, sessions),
    mayHaveLeft: (session) => context.files.mayHaveLeft(session.id),
    leftovers: (sessions) => context.files.leftovers(sessions.map(({ id }) => id)),
    clear: (session) => context.files.launches(session.id).length === 0 && finishSession(context, session),
    hasFiles: (id) => existsSync(context.files.sessionDirectory(id)),
    adoptUnrecorded: (session, launch, events) => adoptUnrecorded(context, session, launch, events),
    launch: (request) => launch(context, request),
    async send(session, prompt) {
      const proc = await processOf(session);
      return proc === null ? { sent: "not-now", why: "the agent is not running" } : sendPrompt(context, proc, prompt);
    },
    stop: (session, how) => stop(context, session, how),
    async capture(session, lines) {
      return context.files.errorLines(session.id, expectedLaunch(session), lines).join("\n");
    },
    attachCommand: (session) => ["holdfast", "attach", session.id],
    onHint: (listener) => void listeners.push(listener),
    promptCapabilities(session) {
      const expected = expectedLaunch(session);
      return expected && promptCapabilities(context.store, expected);
    },
    async answer(session, requestId, optionId, by) {
      const proc = await processOf(session);
      if (proc === null) return { answered: false, why: "not-open" };
      return answerPermission(context, proc, requestId, optionId, by);
    },
    async cancel(session, how) {
      const proc = await processOf(session);
      return proc === null ? { cancelled: "no-turn" } : cancelTurn(context, proc, how);
    },
    async endTurn(session, by) {
      const proc = await processOf(session);
      return proc === null ? false : endTurn(context, proc, by);
    },
    async configure(session, pick, by) {
      const proc = await processOf(session);
      return proc === null ? { applied: false, why: "the agent is not running" } : configure(context, proc, pick, by);
    },
    async deleteConversation(session) {
      const proc = await processOf(session);
      return proc === null ? "not-running" : deleteConversation(context, proc);
    },
    deleteByCommand: (session, env) => deleteByCommand(context, session, env),
    markRestarting(session) {
      const proc = output.get(session.id);
      if (proc !== undefined) void learn(context, proc, { restarting: true });
    },
    forget: (session) => context.files.removeAll(session.id),
    errorLines: (session, lines) => context.files.errorLines(session.id, expectedLaunch(session), lines),
    async close() {
      clearInterval(beat);
      output.close();
      await Promise.allSettled(
        [...output.all()].flatMap((proc) => [proc.appending, proc.pumping ?? Promise.resolve()]),
      );
    },
  };
}

/** Shows every keeper that a daemon runs. The content must change each time. */
function startBeat(output: AgentOutput, log: Logger): NodeJS.Timeout {
  let last = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    if (last !== 0 && now - last < beatEveryMs) return;
    last = now;
    for (const proc of output.all()) {
      try {
        writeFileSync(join(proc.directory, "beat"), `${process.pid} ${Math.round(now)}\n`, { mode: 0o600 });
      } catch (error) {
        log.debug("cannot write a heartbeat", { session: proc.session, error });
      }
    }
  }, firstBeatMs);
  return timer.unref();
}

async function filesLost(context: AcpContext, proc: AgentProcess): Promise<void> {
  const { session, launch, directory } = proc;
  context.log.error("an agent's files were removed while it ran; restarting it", { session, directory });
  // First: it must receive no more input.
  proc.feederGone = true;
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
    proc.turnOpen = false;
  } catch (error) {
    proc.missingSince = null;
    proc.lossReported = false;
    context.log.warn("cannot record the loss of an agent's files; retrying", { session, error });
  }
  context.hint(session);
}
