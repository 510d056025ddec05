/** Ends a session's complete tree in stages, keeps how it ended, and only then removes its tmux session. */
import { setTimeout as delay } from "node:timers/promises";
import { identify } from "../base/pid.ts";
import { reach } from "../base/test-points.ts";
import type { StopResult } from "../ports/runtime.ts";
import type { SessionState } from "../model/session.ts";
import { markStopping, stopTree } from "../base/stop-mark.ts";
import { treeTarget } from "./launch-files.ts";
import { deathLines, type ObserveContext } from "./observe.ts";
import { awaitsExit, listPanes, paneFor, paneLines, remind, removeSession, type Pane } from "./panes.ts";

/** Not even SIGTERM makes Claude write its latest turn on a busy machine: it is waited for, within this. */
const writeMs = 2000;
const writtenEveryMs = 50;
/** tmux's own call, when it hangs, must not eat the time for ending processes. */
const lookMs = 1500;
const exitWordMs = 500;

export async function stop(
  context: ObserveContext,
  session: SessionState,
  options: { force: boolean; deadlineMs: number },
): Promise<StopResult> {
  const until = performance.now() + options.deadlineMs;
  const before = (await ownPanes(context, session)) ?? [];
  const roots = before.flatMap((pane) => (pane.dead ? [] : (identify(pane.pid) ?? [])));
  const target = treeTarget(session, context.files, roots);
  if (!options.force) await untilWritten(context, session, before);
  for (const pane of before) if (!pane.dead) markStopping(context.files.directory(session.id, pane.launch));
  const remaining = await stopTree(target, { ...options, until });

  const after = await settledPanes(context, session);
  const pane = paneFor(after ?? [], session);
  const lines = pane === null ? [] : await paneLines(context.tmux, pane, deathLines);
  const exit = pane?.exit ?? null;
  if (remaining.length > 0) return { remaining, exit, lastLines: lines };
  context.watches.forget(session.id);
  // A server that does not answer keeps a dead pane; the next look finds it, and its launch must then be known.
  if (after === null) return { remaining, exit, lastLines: lines };
  for (const one of after) await removeSession(context.tmux, one);
  await context.tmux.tidy();
  await reach("terminal.ended");
  context.files.removeAll(session.id);
  return { remaining, exit, lastLines: lines };
}

/** Waits until the transcript has the turn that has just ended: an agent that ends before cannot resume it. */
async function untilWritten(context: ObserveContext, session: SessionState, panes: readonly Pane[]): Promise<void> {
  const until = performance.now() + writeMs;
  const watches = panes.flatMap((pane) => {
    const identity = pane.dead ? null : identify(pane.pid);
    if (identity === null) return [];
    const watch = context.watches.of(session, pane.launch);
    watch.process(identity);
    return [watch];
  });
  while (watches.some((watch) => !watch.hasWritten(session.workspacePath, Date.now()))) {
    if (performance.now() >= until) return;
    await delay(writtenEveryMs);
  }
}

/** Null when tmux cannot be asked. */
async function ownPanes(context: ObserveContext, session: SessionState): Promise<Pane[] | null> {
  const list = await listPanes(context.tmux, lookMs);
  return list.is === "unknown" ? null : list.panes.filter((pane) => pane.session === session.id);
}

/** The panes once tmux has noticed that their agents are dead. */
async function settledPanes(context: ObserveContext, session: SessionState): Promise<Pane[] | null> {
  const until = performance.now() + exitWordMs;
  for (;;) {
    const panes = await ownPanes(context, session);
    if (panes === null || !panes.some((pane) => awaitsExit(pane)) || performance.now() >= until) return panes;
    remind(panes);
    await delay(10);
  }
}
