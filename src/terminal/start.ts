/** Watches a start until it stands or has failed, and keeps what a failed one said before removing what is left of it. */
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { attempt } from "../base/attempt.ts";
import { identify, readStat } from "../base/pid.ts";
import { programWithin } from "../base/pid-namespace.ts";
import { endTree } from "../base/process-tree.ts";
import type { TerminalAgent } from "../ports/agents.ts";
import type { LaunchRequest, LaunchResult } from "../ports/runtime.ts";
import { treeTarget } from "./launch-files.ts";
import { commandOf, deathLines, type ObserveContext } from "./observe.ts";
import { awaitsExit, listPanes, paneLines, remind, removeSession, type Pane } from "./panes.ts";
import { captureScreens } from "./screen.ts";

/** How long a start is watched before it counts as started. */
export interface Settle {
  /**
   * A command that cannot run at all fails within this; later deaths are crashes and have their own budget. Counted in
   * time of the processor: on a busy machine it may wait longer than this before its first step.
   */
  freshMs: number;
  /** An agent says only after its start-up that a conversation does not exist. Cut short by its first sign of life. */
  resumeMs: number;
}

export const defaultSettle: Settle = {
  // A test of a command that ends at once gives it the time that a slow machine needs.
  freshMs: Number(process.env["HOLDFAST_TEST_FRESH_MS"] ?? 15),
  resumeMs: 8000,
};

export interface StartContext extends ObserveContext {
  starterPath: string;
  settle: Settle;
}

export interface Started {
  pane: Pick<Pane, "sessionTarget" | "paneTarget">;
  pid: number;
  contained?: boolean;
}

const pollMs = 1;
/** One that gets no time of the processor for so long is not waited for. */
const idleStartMs = 2000;
/** tmux learns of a death at once; this bounds the wait for its word. */
const deadPaneMs = 2000;
/** What a failed start left behind gets no time to say goodbye. */
const leftoverEnd = { politeMs: 300, forceMs: 3000 };

/** Null when the start stands, else what went wrong. */
export async function watchStart(
  context: StartContext,
  request: LaunchRequest,
  agent: TerminalAgent,
  made: Started,
): Promise<LaunchResult | null> {
  const resuming = request.how === "resume" && agent.resume !== null && agent.conversationGone.length > 0;
  let became: { at: number; ranMs: number } | null = null;
  let asleep = 0;
  for (;;) {
    const stat = readStat(made.pid);
    if (stat === null || stat.state === "Z" || stat.state === "X") return failure(context, request, agent, made.pane);
    const now = performance.now();
    // Of a contained launch the pane has only what waits for the agent: whether that stands is seen inside.
    const pid = made.contained === true ? agentWithin(made.pid) : isAgent(context, request, made.pid) ? made.pid : null;
    if (became === null && pid !== null) became = { at: now, ranMs: readRanMs(pid) };
    if (became !== null) {
      if (resuming) return watchResume(context, request, agent, made, became.at + context.settle.resumeMs);
      const state = pid === null ? null : (readStat(pid)?.state ?? null);
      // Twice asleep: it waits for something, so it has got past its start.
      asleep = state === "S" ? asleep + 1 : 0;
      if (asleep >= 2 || (pid !== null && readRanMs(pid) - became.ranMs >= context.settle.freshMs)) return null;
      if (now - became.at >= idleStartMs) return null;
    }
    await delay(pollMs);
  }
}

/** How long the kernel has let a process run; where it does not tell, the time that passes stands for it. */
function readRanMs(pid: number): number {
  const text = attempt(() => readFileSync(`/proc/${pid}/schedstat`, "latin1"), null);
  return text === null ? performance.now() : Number(text.split(" ", 1)[0]) / 1e6;
}

const resumePollMs = 50;

async function watchResume(
  context: StartContext,
  request: LaunchRequest,
  agent: TerminalAgent,
  made: Started,
  until: number,
): Promise<LaunchResult | null> {
  const watch = context.watches.of(request.session, request.launch);
  while (performance.now() < until) {
    if (identify(made.pid) === null) return failure(context, request, agent, made.pane);
    const list = await listPanes(context.tmux);
    const pane = list.panes.find((one) => one.launch === request.launch);
    if (pane !== undefined && !pane.dead) {
      const screen = (await captureScreens(context.tmux, [pane.paneTarget])).get(pane.paneTarget) ?? "";
      // It may say so and wait for a key instead of ending.
      if (isGone(agent, screen)) return failure(context, request, agent, pane);
      watch.sawScreen(pane, screen, Date.now());
      if (watch.hooks.read() || watch.reported(pane, Date.now()) !== null) return null;
    }
    await delay(resumePollMs);
  }
  return null;
}

/** The pane's process is first tmux's own fork, then the starter, then the agent. */
function isAgent(context: StartContext, request: LaunchRequest, pid: number): boolean {
  if (!context.files.wasRead(request.session.id, request.launch)) return false;
  const command = commandOf(pid);
  return command.length > 1 && command[1] !== context.starterPath;
}

/** The agent's process inside once it is no longer what starts it. */
function agentWithin(outer: number): number | null {
  const pid = programWithin(outer);
  const command = pid === null ? [] : commandOf(pid);
  return command.length > 1 && !command.includes("--args") && command[3] !== "holdfast" ? pid : null;
}

/** Keeps the last lines and the exit status, then removes what is left of the start. */
export async function failure(
  context: StartContext,
  request: LaunchRequest,
  agent: TerminalAgent,
  target: Pick<Pane, "sessionTarget" | "paneTarget">,
): Promise<LaunchResult> {
  const before = await deadPane(context, target.paneTarget, 0);
  if (before !== null && !before.dead) {
    await endTree(treeTarget(request.session, context.files, [identify(before.pid) ?? []].flat()), leftoverEnd);
  }
  const pane = await deadPane(context, target.paneTarget, deadPaneMs);
  const lines = await paneLines(context.tmux, target, deathLines);
  await endTree(treeTarget(request.session, context.files, []), leftoverEnd);
  await removeSession(context.tmux, target);
  await context.tmux.tidy();
  context.files.forgetRun(request.session.id, request.launch);
  const conversationGone = request.how === "resume" && isGone(agent, lines.join("\n"));
  const reason = conversationGone
    ? "the agent no longer has this conversation"
    : reasonOf(pane?.exit ?? null, lines, { workspace: request.session.workspacePath, command: agent.start[0] });
  return { launched: false, reason, exit: pane?.exit ?? null, lastLines: lines, conversationGone };
}

/** The pane once tmux says that it is dead, or as it is after the wait. */
async function deadPane(context: StartContext, paneTarget: string, waitMs: number): Promise<Pane | null> {
  const until = performance.now() + waitMs;
  for (;;) {
    const list = await listPanes(context.tmux);
    const pane = list.panes.find((one) => one.paneTarget === paneTarget);
    if (pane === undefined) return null;
    if ((pane.dead && !awaitsExit(pane)) || performance.now() >= until) return pane;
    remind([pane]);
    await delay(pollMs);
  }
}

/** Exit statuses that sh gives when it could not become the agent. */
const notFound = 127;
const notExecutable = 126;

function reasonOf(
  exit: LaunchFailure["exit"],
  lines: readonly string[],
  { workspace, command = "" }: { workspace: string; command: string | undefined },
): string {
  const last = lines.findLast((line) => line.trim() !== "");
  const detail = last === undefined ? "" : `: ${last.trim()}`;
  // tmux may drop what sh said of it.
  if (exit?.code === notFound) return `the agent's command was not found${detail === "" ? `: ${command}` : detail}`;
  if (exit?.code === notExecutable) return `the agent could not be started in ${workspace}${detail}`;
  if (exit?.signal !== null && exit !== null)
    return `the agent was ended by ${exit.signal} as soon as it started${detail}`;
  return `the agent ended as soon as it started${exit === null ? "" : ` (status ${exit.code})`}${detail}`;
}

type LaunchFailure = Extract<LaunchResult, { launched: false }>;

function isGone(agent: TerminalAgent, text: string): boolean {
  return agent.conversationGone.some((pattern) => text.search(pattern) >= 0);
}
