/**
 * Starts an agent between its two files: directory and record first, then a keeper without a pipe to us, then the
 * conversation. Repeatable for one launch, by this daemon or the next: it continues where it was interrupted.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { cgroupMembers, joinFile } from "../base/cgroup.ts";
import { firstWithin } from "../base/pid-namespace.ts";
import { probeDisk } from "../base/durable-file.ts";
import { findTree } from "../base/process-tree.ts";
import { startChild } from "../base/run.ts";
import { reach } from "../base/test-points.ts";
import { withPersonalUmask } from "../base/program.ts";
import type { ChatAgent } from "../ports/agents.ts";
import type { LaunchRequest, LaunchResult } from "../ports/runtime.ts";
import { HoldfastError } from "../contract/errors.ts";
import { launchMarker, type RecordedProcess, type AgentRecord } from "../contract/worker-record.ts";
import { containedLaunch } from "../ports/contain.ts";
import { isGone, writeRequest } from "./client.ts";
import type { AcpContext } from "./context.ts";
import { initializeRequest, openConversation } from "./handshake.ts";
import { awaitExit, identityOf, AgentProcess, ownProcess, offsetsOf } from "./agent-process.ts";
import { stop } from "./stop.ts";
import { readExit, readPids } from "./agent-files.ts";
import { findProgram } from "../base/find-program.ts";

/** How long the keeper may take to record the agent's pid; normally some milliseconds. */
const startedMs = 15_000;
const pollMs = 3;
const failedLines = 20;
/** How long the processes of a failed launch may take to exit. */
const giveUpMs = 5_000;

export async function launch(context: AcpContext, request: LaunchRequest): Promise<LaunchResult> {
  const { session } = request;
  const agent = context.agents.of(session);
  const chat = agent?.chat ?? null;
  if (agent === null || chat === null) return refusal(`The agent ${session.agent} has no chat mode.`);
  if (!existsSync(session.workspacePath)) return refusal(`Workspace missing: ${session.workspacePath}`);
  let proc: AgentProcess;
  try {
    proc = await startedProcess(context, request, chat);
  } catch (error) {
    if (!(error instanceof NotContained)) throw error;
    // Removes the prepared files.
    await stop(context, session, { force: false, deadlineMs: giveUpMs });
    return refusal(error.message);
  }
  if (proc.record.agent === null) return giveUp(context, request, proc, notStarted(proc), false);
  const opened = await openConversation(context, proc, { session, how: request.how, chat });
  if (!opened.opened) return giveUp(context, request, proc, opened.reason, opened.conversationGone);
  const { agentSessionId } = opened;
  await learn(context, proc, { agentSessionId });
  return {
    launched: true,
    agent: identityOf(proc.record, proc.record.agent),
    agentSessionId,
    promptTaken: false,
  };
}

async function startedProcess(context: AcpContext, request: LaunchRequest, chat: ChatAgent): Promise<AgentProcess> {
  const { session, launch } = request;
  const known = context.output.get(session.id);
  if (known !== undefined && known.launch === launch && known.record.agent !== null) return known;
  const others = context.files.launches(session.id).filter((other) => other !== launch);
  // An earlier launch must not run at the same time, or be read after this one.
  if (others.length > 0)
    await stop(context, { ...session, run: { run: "none" } }, { force: false, deadlineMs: giveUpMs }, launch);
  const proc = await prepared(context, request, chat);
  // An observation meanwhile reports a start, not a crash.
  proc.waiting++;
  context.output.follow(proc);
  try {
    const started = await isStarted(proc);
    const keeper = started ? null : await startKeeper(context, request, proc, chat);
    await identifyProcesses(context, proc, keeper);
  } finally {
    proc.waiting--;
  }
  return proc;
}

/** Directory, record and first line are on disk before anything runs. */
async function prepared(context: AcpContext, request: LaunchRequest, chat: ChatAgent): Promise<AgentProcess> {
  const { session, launch } = request;
  const place = offsetsOf(context, launch);
  const fresh: AgentRecord = {
    version: 1,
    session: session.id,
    launch,
    bootId: context.bootId,
    keeper: null,
    feeder: null,
    agent: null,
    marker: `${launchMarker}=${launch}`,
    command: chat.command,
    agentSessionId: session.agentSessionId,
    build: context.buildOf(session),
    restarting: false,
    cgroup: place === null ? context.cgroups.make(session.id, launch) : null,
    ...(session.contain?.mode === "worktree" ? { contained: { first: null } } : {}),
  };
  const record = place?.record ?? fresh;
  const directory = context.files.has(session.id, launch)
    ? context.files.directory(session.id, launch)
    : context.files.make(session.id, launch);
  const proc = new AgentProcess(record, directory, place?.outRead ?? 0);
  context.files.writeRecord(record);
  await reach("chat.recorded");
  await writeRequest(context, proc, { ...initializeRequest(context), step: { info: JSON.stringify(record) } });
  return proc;
}

/** An earlier daemon may have died right after the start: then its keeper carries the marker. */
async function isStarted(proc: AgentProcess): Promise<boolean> {
  if (!existsSync(join(proc.directory, "bell"))) return false;
  if (existsSync(join(proc.directory, "pids"))) return true;
  return (await findTree({ roots: [], marker: { name: launchMarker, values: [proc.launch] } })).length > 0;
}

async function startKeeper(
  context: AcpContext,
  request: LaunchRequest,
  proc: AgentProcess,
  chat: ChatAgent,
): Promise<ChildProcess> {
  const { session, launch, env } = request;
  const keeper = [context.keeperPath, proc.directory, context.files.recordPath(session.id), launch, "--"];
  const own = environmentOf(chat, proc.directory);
  const plain: Record<string, string> = { ...defined(context.env), ...own, ...env, [launchMarker]: launch };
  writeFiles(chat, proc.directory);
  // In a container the program is the image's, not the one found here.
  const inside = session.contain?.mode === "devcontainer";
  const argv = inside ? chat.command : commandOf(chat, plain["PATH"]);
  const contained = await containedLaunch(context.contain, {
    session,
    launch,
    argv,
    command: argv,
    env: plain,
    given: Object.keys({ ...own, ...env }),
    directory: proc.directory,
    files: (chat.files ?? []).map(({ name }) => name),
    hooks: false,
    ownFolders: context.agents.of(session)?.ownFolders ?? [],
  }).catch((error: unknown) => {
    throw error instanceof HoldfastError ? new NotContained([error.message, error.hint].join(" ").trim()) : error;
  });
  const cgroup = proc.record.cgroup ?? null;
  // The shell first moves itself into the cgroup, if it can, and then becomes the keeper.
  const join = cgroup === null ? [] : ["-c", 'echo 0 >"$0"; exec sh "$@"', joinFile(cgroup)];
  const begin = () =>
    withPersonalUmask(() =>
      spawn("sh", [...join, ...keeper, ...(contained?.argv ?? argv)], {
        cwd: session.workspacePath,
        env: contained?.env ?? plain,
        // A pipe would break when the daemon exits.
        stdio: "ignore",
        detached: true,
      }),
    );
  const child = await startChild(begin);
  child.unref();
  await reach("chat.spawned");
  return child;
}

/** Records keeper, feeder and agent; the agent stays null if it did not start. */
async function identifyProcesses(context: AcpContext, proc: AgentProcess, keeper: ChildProcess | null): Promise<void> {
  const until = performance.now() + startedMs;
  for (;;) {
    const started = startedProcesses(proc);
    // A contained launch is complete once the first process of its namespace exists.
    if (started !== null && (started.contained?.first !== null || performance.now() >= until)) {
      const { cgroup = null } = proc.record;
      if (cgroup !== null && !cgroupMembers(cgroup).includes(started.agent.pid)) {
        context.log.warn("an agent could not join its cgroup", { session: proc.session, cgroup });
      }
      return learn(context, proc, started);
    }
    const over = readExit(proc.directory) !== null || (keeper?.exitCode ?? keeper?.signalCode ?? null) !== null;
    if (over || performance.now() >= until) return;
    await delay(pollMs);
  }
}

/** The launch's processes, as its keeper recorded them; null until the agent runs. */
export function startedProcesses(proc: AgentProcess): (Partial<AgentRecord> & { agent: RecordedProcess }) | null {
  const pids = readPids(proc.directory);
  const agent = ownProcess(proc, pids.agent);
  if (agent === null) return null;
  const found = { agent, keeper: ownProcess(proc, pids.keeper), feeder: ownProcess(proc, pids.feeder) };
  if (proc.record.contained === undefined) return found;
  const first = firstWithin(agent.pid);
  return { ...found, contained: { first: first && { pid: first.pid, startTime: first.startTime } } };
}

/** The launch must be contained and cannot be: it is not started. */
class NotContained extends Error {}

function defined(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

export async function learn(context: AcpContext, proc: AgentProcess, news: Partial<AgentRecord>): Promise<void> {
  proc.record = { ...proc.record, ...news };
  context.files.writeRecord(proc.record);
  const info = JSON.stringify(proc.record);
  await context.store.chat(proc.session, proc.launch, (_state, place) => (place === null ? null : { info }));
}

async function giveUp(
  context: AcpContext,
  request: LaunchRequest,
  proc: AgentProcess,
  reason: string,
  conversationGone: boolean,
): Promise<LaunchResult> {
  // If the agent exited on its own, its keeper is about to write the status.
  await awaitExit(proc);
  const died = isGone(proc);
  const { exit, lastLines } = await stop(context, request.session, { force: false, deadlineMs: giveUpMs });
  return { launched: false, reason: withLastLines(reason, lastLines), exit, lastLines, conversationGone, died };
}

function notStarted(proc: AgentProcess): string {
  switch (probeDisk(proc.directory)) {
    case "full":
      return "The agent could not start: the disk is full. Free some space and restore the session.";
    case "read-only":
    case "failing":
      return "The agent could not start: the disk cannot be written.";
    case null:
  }
  return readExit(proc.directory) === null
    ? "The agent did not start in time."
    : "The agent ended before it could be seen.";
}

function withLastLines(reason: string, lines: string[]): string {
  const last = lines.slice(-failedLines).findLast((line) => /\w/.test(line));
  return last === undefined ? reason : `${reason} Last output: ${last.trim()}`;
}

function refusal(reason: string): LaunchResult {
  return { launched: false, reason, exit: null, lastLines: [], conversationGone: false };
}

/** Replaces a script that only starts a program by the program: such scripts do not pass signals on. */
function commandOf(chat: ChatAgent, path: string | undefined): string[] {
  const [script = "", ...rest] = chat.command;
  const found = chat.program === undefined ? null : findProgram(script, path);
  const program = found === null ? null : chat.program!(realpathSync(found));
  return program === null ? chat.command : [program, ...rest];
}

/** `{hooks}` is the launch's own directory, as for terminal agents. */
function environmentOf(chat: ChatAgent, directory: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(chat.env).map(([name, value]) => [name, value.replaceAll("{hooks}", () => directory)]),
  );
}

function writeFiles(chat: ChatAgent, directory: string): void {
  for (const { name, text, executable = false } of chat.files ?? []) {
    writeFileSync(join(directory, name), text, { mode: executable ? 0o700 : 0o600 });
  }
}
