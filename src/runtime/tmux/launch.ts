/**
 * Starts one launch of an agent in a tmux session of its own and sees that it lives. Repeatable for one launch id: the
 * launch id stands in the session's options, so a launch that is already there is found instead of started again.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { identify, readStat } from "../../base/pid.ts";
import { endTree, findTree } from "../../base/process-tree.ts";
import type { AgentDefinition, Agents, TerminalAgent } from "../../ports/agents.ts";
import type { LaunchRequest, LaunchResult } from "../../ports/runtime.ts";
import { HoldfastError } from "../../protocol/error.ts";
import { agentCommand, agentEnvironment, fill } from "./command.ts";
import { treeTarget } from "./identity.ts";
import { otherName, tmuxName } from "./names.ts";
import { deathLines } from "./observe.ts";
import type { ObserveContext } from "./observe.ts";
import { agentPaneOption, awaitsExit, launchOption, listPanes, remind, sessionOption } from "./panes.ts";
import type { Pane } from "./panes.ts";
import { captureScreens, lastLines } from "./screen.ts";

export interface LaunchContext extends ObserveContext {
  agents: Agents;
  env: NodeJS.ProcessEnv;
  starterPath: string;
  settle: Settle;
}

/** How long a start is watched before it counts as started. */
export interface Settle {
  /** A command that cannot run at all fails within this; later deaths are crashes and have their own budget. */
  freshMs: number;
  /** An agent says only after its start-up that a conversation does not exist. Cut short by its first sign of life. */
  resumeMs: number;
}

export const defaultSettle: Settle = { freshMs: 15, resumeMs: 8000 };

/** Wide enough for every agent's layout; a viewer's size takes over when one attaches. */
const size = ["-x", "160", "-y", "50"];
const newSession = ["new-session", "-d", ...size, "-P", "-F", "#{session_id}\t#{pane_id}\t#{pane_pid}"];
const pollMs = 2;
/** tmux learns of a death at once; this bounds the wait for its word. */
const deadPaneMs = 2000;
/** What a failed start left behind gets no time to say goodbye. */
const leftoverEnd = { politeMs: 300, forceMs: 3000 };

export async function launch(context: LaunchContext, request: LaunchRequest): Promise<LaunchResult> {
  const definition = context.agents.get(request.session.agent);
  const agent = definition?.terminal ?? null;
  if (definition === null || agent === null) {
    return notLaunched(`agent ${request.session.agent} is not known or has no terminal mode`);
  }
  if (request.how === "resume" && agent.resume !== null && request.session.agentSessionId === null) {
    return notLaunched("the conversation to resume is not known");
  }
  const earlier = context.files.note(request.session.id, request.launch);
  if (earlier !== null) {
    const there = await findEarlier(context, request, agent);
    if (there !== null) return there;
  }
  const resuming = request.how === "resume" && agent.resume !== null;
  const id = resuming
    ? request.session.agentSessionId
    : agent.pin === "chosen"
      ? (earlier?.agentSessionId ?? randomUUID())
      : null;
  const { promptTaken } = writeFiles(context, request, definition, agent, id);
  context.watches.forget(request.session.id);
  const made = await makeSession(context, request);
  if (made.is === "there") return adopt(context, request, agent, made.pane);
  if (made.is === "refused") {
    context.files.remove(request.session.id, request.launch);
    return notLaunched(made.why);
  }
  const died = await watchStart(context, request, agent, made);
  context.watches.forget(request.session.id);
  if (died !== null) return died;
  context.files.forgetRun(request.session.id, request.launch);
  const identity = identify(made.pid);
  if (identity === null) return failure(context, request, agent, made.pane);
  return { launched: true, agent: identity, agentSessionId: id, promptTaken };
}

function writeFiles(
  context: LaunchContext,
  request: LaunchRequest,
  definition: AgentDefinition,
  agent: TerminalAgent,
  id: string | null,
): { promptTaken: boolean } {
  const { session, launch } = request;
  const hooks = context.files.directory(session.id, launch);
  const values = { id: id ?? "", prompt: request.prompt?.text.replaceAll("\0", "") ?? "", hooks };
  const { argv, promptTaken } = agentCommand(agent, request, values);
  const env = agentEnvironment(context.env, definition, request, values);
  const files = agent.files.map((file) => ({ ...file, text: fill(file.text, values) }));
  const run = { workspace: session.workspacePath, env, argv };
  context.files.write(session.id, { launch, agentSessionId: id, promptTaken }, run, files);
  return { promptTaken };
}

interface Made {
  is: "made";
  pane: Pick<Pane, "sessionTarget" | "paneTarget">;
  pid: number;
}

type Making = Made | { is: "there"; pane: Pane } | { is: "refused"; why: string };

async function makeSession(context: LaunchContext, request: LaunchRequest): Promise<Making> {
  const { session, launch } = request;
  let name = tmuxName(session);
  // Once for a dead session of ours in the way, once for a name that is somebody else's, once for a dying server.
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const target = `=${name}:`;
    const directory = context.files.directory(session.id, launch);
    const reply = await context.tmux.run({
      mayStartServer: true,
      commands: [
        [...newSession, "-s", name, "/bin/sh", context.starterPath, directory],
        ["set-option", "-t", target, sessionOption, session.id],
        ["set-option", "-t", target, launchOption, launch],
        ["set-option", "-p", "-t", target, agentPaneOption, "1"],
      ],
    });
    if (reply.is === "ok") {
      const [sessionTarget, paneTarget, pid] = reply.stdout.trim().split("\t");
      return { is: "made", pane: { sessionTarget: sessionTarget!, paneTarget: paneTarget! }, pid: Number(pid) };
    }
    if (reply.is === "refused" && !reply.message.startsWith("duplicate session")) {
      return { is: "refused", why: `tmux refused the session: ${reply.message}` };
    }
    const panes = await panesOrThrow(context, reply.is === "unknown" ? reply.why : "tmux does not answer");
    const own = panes.filter((pane) => pane.session === session.id);
    const same = own.find((pane) => pane.launch === launch);
    if (same !== undefined) return { is: "there", pane: same };
    const alive = own.find((pane) => !pane.dead);
    if (alive !== undefined) return { is: "refused", why: `an earlier launch of ${session.id} still runs` };
    if (reply.is !== "refused") continue;
    if (own.length === 0) name = otherName(tmuxName(session), session.id);
    for (const pane of own) await removeSession(context, pane);
  }
  return { is: "refused", why: "tmux did not make the session" };
}

/** Nobody knows whether the session was made: the caller repeats the same launch later instead of recording a failure. */
async function panesOrThrow(context: LaunchContext, why: string): Promise<Pane[]> {
  const list = await listPanes(context.tmux);
  if (list.is === "known") return list.panes;
  if (list.is === "no-server") return [];
  throw new HoldfastError("launch-failed", `tmux cannot be reached: ${why}`, {
    hint: "The launch is tried again; `holdfast doctor` says what is wrong with tmux.",
  });
}

/** What an interrupted call for this same launch left. */
async function findEarlier(
  context: LaunchContext,
  request: LaunchRequest,
  agent: TerminalAgent,
): Promise<LaunchResult | null> {
  const panes = await panesOrThrow(context, "tmux does not answer");
  const pane = panes.find((one) => one.session === request.session.id && one.launch === request.launch);
  if (pane !== undefined) return adopt(context, request, agent, pane);
  const left = await findTree(treeTarget(request.session, context.files, []));
  return left.length === 0 ? null : notLaunched("processes of an earlier launch still run");
}

async function adopt(
  context: LaunchContext,
  request: LaunchRequest,
  agent: TerminalAgent,
  pane: Pane,
): Promise<LaunchResult> {
  const identity = pane.dead ? null : identify(pane.pid);
  if (identity === null) return failure(context, request, agent, pane);
  const note = context.files.note(request.session.id, request.launch);
  const agentSessionId = note?.agentSessionId ?? null;
  return { launched: true, agent: identity, agentSessionId, promptTaken: note?.promptTaken ?? false };
}

/** Null when the start stands, else what went wrong. */
async function watchStart(
  context: LaunchContext,
  request: LaunchRequest,
  agent: TerminalAgent,
  made: Made,
): Promise<LaunchResult | null> {
  const resuming = request.how === "resume" && agent.resume !== null && agent.conversationGone.length > 0;
  let becameAt: number | null = null;
  let asleep = 0;
  for (;;) {
    const stat = readStat(made.pid);
    if (stat === null || stat.state === "Z" || stat.state === "X") return failure(context, request, agent, made.pane);
    const now = performance.now();
    if (becameAt === null && isAgent(context, request, made.pid)) becameAt = now;
    if (becameAt !== null) {
      if (resuming) return watchResume(context, request, agent, made, becameAt + context.settle.resumeMs);
      // Twice asleep: it waits for something, so it has got past its start.
      asleep = stat.state === "S" ? asleep + 1 : 0;
      if (asleep >= 2 || now - becameAt >= context.settle.freshMs) return null;
    }
    await delay(pollMs);
  }
}

const resumePollMs = 50;

async function watchResume(
  context: LaunchContext,
  request: LaunchRequest,
  agent: TerminalAgent,
  made: Made,
  until: number,
): Promise<LaunchResult | null> {
  const watch = context.watches.of(request.session, request.launch);
  while (performance.now() < until) {
    if (identify(made.pid) === null) return failure(context, request, agent, made.pane);
    const list = await listPanes(context.tmux);
    const pane = list.is === "known" ? list.panes.find((one) => one.launch === request.launch) : undefined;
    if (pane !== undefined && !pane.dead) {
      const screen = (await captureScreens(context.tmux, [pane.paneTarget])).get(pane.paneTarget) ?? "";
      // It may say so and wait for a key instead of ending.
      if (isGone(agent, screen)) return failure(context, request, agent, pane);
      watch.sawScreen(pane, screen, Date.now());
      if (watch.hooks.read() || watch.activity(pane, Date.now()) !== null) return null;
    }
    await delay(resumePollMs);
  }
  return null;
}

/** The pane's process is first tmux's own fork, then the starter, then the agent. */
function isAgent(context: LaunchContext, request: LaunchRequest, pid: number): boolean {
  if (!context.files.wasRead(request.session.id, request.launch)) return false;
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return command.length > 1 && command[1] !== context.starterPath;
  } catch {
    return false;
  }
}

/** Keeps the last lines and the exit status, then removes what is left of the start. */
async function failure(
  context: LaunchContext,
  request: LaunchRequest,
  agent: TerminalAgent,
  target: Pick<Pane, "sessionTarget" | "paneTarget">,
): Promise<LaunchResult> {
  const before = await deadPane(context, target.paneTarget, 0);
  if (before !== null && !before.dead) {
    await endTree(treeTarget(request.session, context.files, rootOf(before)), leftoverEnd);
  }
  const pane = await deadPane(context, target.paneTarget, deadPaneMs);
  const screens = await captureScreens(context.tmux, [target.paneTarget], deathLines);
  const lines = lastLines(screens.get(target.paneTarget) ?? "", deathLines);
  await endTree(treeTarget(request.session, context.files, []), leftoverEnd);
  await removeSession(context, target);
  await context.tmux.tidy();
  context.files.forgetRun(request.session.id, request.launch);
  const conversationGone = request.how === "resume" && isGone(agent, lines.join("\n"));
  const reason = conversationGone
    ? "the agent does not know the conversation any more"
    : reasonOf(pane?.exit ?? null, lines, request.session.workspacePath);
  return { launched: false, reason, exit: pane?.exit ?? null, lastLines: lines, conversationGone };
}

function rootOf(pane: Pane): { bootId: string; pid: number; startTime: string }[] {
  const identity = identify(pane.pid);
  return identity === null ? [] : [identity];
}

/** The pane once tmux says that it is dead, or as it is after the wait. */
async function deadPane(context: LaunchContext, paneTarget: string, waitMs: number): Promise<Pane | null> {
  const until = performance.now() + waitMs;
  for (;;) {
    const list = await listPanes(context.tmux);
    const pane = list.is === "known" ? list.panes.find((one) => one.paneTarget === paneTarget) : undefined;
    if (pane === undefined) return null;
    if ((pane.dead && !awaitsExit(pane)) || performance.now() >= until) return pane;
    remind([pane]);
    await delay(pollMs);
  }
}

/** Exit statuses that sh gives when it could not become the agent. */
const notFound = 127;
const notExecutable = 126;

function reasonOf(exit: LaunchFailure["exit"], lines: readonly string[], workspace: string): string {
  const last = lines.findLast((line) => line.trim() !== "");
  const said = last === undefined ? "" : `: ${last.trim()}`;
  if (exit?.code === notFound) return `the agent's command was not found${said}`;
  if (exit?.code === notExecutable) return `the agent could not be started in ${workspace}${said}`;
  if (exit?.signal !== null && exit !== null) return `the agent was ended by ${exit.signal} as soon as it started${said}`;
  return `the agent ended as soon as it started${exit === null ? "" : ` (status ${exit.code})`}${said}`;
}

type LaunchFailure = Extract<LaunchResult, { launched: false }>;

function isGone(agent: TerminalAgent, text: string): boolean {
  return agent.conversationGone.some((pattern) => text.search(pattern) >= 0);
}

export async function removeSession(context: ObserveContext, pane: Pick<Pane, "sessionTarget">): Promise<void> {
  await context.tmux.run({ commands: [["kill-session", "-t", pane.sessionTarget]] });
}

function notLaunched(reason: string): LaunchResult {
  return { launched: false, reason, exit: null, lastLines: [], conversationGone: false };
}
