/** The tmux runtime: agents with a screen of their own, in a tmux server of ours. */
import { join } from "node:path";
import type { Cgroups } from "../base/cgroup.ts";
import { keepWritten } from "../base/durable-file.ts";
import { lazy } from "../base/lazy.ts";
import { findTree } from "../base/process-tree.ts";
import type { Agents } from "../ports/agents.ts";
import type { Containing } from "../ports/contain.ts";
import type { Logger } from "../ports/api.ts";
import type { TerminalRuntime } from "../ports/runtime.ts";
import type { SessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { confirm } from "./confirm.ts";
import { Hints } from "./hints.ts";
import { LaunchFiles, starterText, tmuxName, treeTarget } from "./launch-files.ts";
import { launch, type LaunchContext } from "./launch.ts";
import { expectedLaunch, observeAll } from "./observe.ts";
import { listPanes, paneFor, type PaneList } from "./panes.ts";
import { captureScreens, lastLines } from "./screen.ts";
import { defaultSendTimes, send, type SendTimes } from "./send.ts";
import { defaultSettle, type Settle } from "./start.ts";
import { stop } from "./stop.ts";
import { Tmux } from "./tmux.ts";
import type { Views } from "./view.ts";
import { Watches } from "./watch.ts";

export interface TmuxRuntimeOptions {
  /** Our own server's socket name; two homes must never share one. */
  socketName: string;
  /** The id of our home: sessions that another home made are not ours. */
  home?: string;
  /** Where our config and starter are written. */
  configDirectory: string;
  launchesDirectory: string;
  agents: Agents;
  bootId: string;
  /** What agents start from, `HOLDFAST_HOME` included; secrets of the daemon must not be in it. */
  env: NodeJS.ProcessEnv;
  log?: Logger;
  /** Where each launch gets a cgroup; none by default. */
  cgroups?: Pick<Cgroups, "make">;
  /** What shuts contained sessions in; without it they cannot be launched. */
  contain?: Containing;
  /** argv before `tmux` where a server is started, such as `systemd-run --user --scope --quiet --`. */
  serverPrefix?: readonly string[];
  /** How long one call of tmux may take before its answer counts as unknown. */
  callDeadlineMs?: number;
  settle?: Partial<Settle>;
  sendTimes?: Partial<SendTimes>;
}

export function openTmuxRuntime(options: TmuxRuntimeOptions): TerminalRuntime {
  const { socketName, agents, bootId, env } = options;
  const tmux = new Tmux(options);
  const files = new LaunchFiles(options.launchesDirectory);
  const contain = options.contain ?? null;
  const watches = new Watches(agents, files, (session) => contain?.ownHome(session) ?? null);
  // Asked before anybody wants to know: tmux answers while a starting daemon reads its records.
  let early: EarlyList | null = files.isEmpty() ? null : { list: listPanes(tmux), askedAt: process.uptime() };
  const hints = new Hints(tmux);
  // Only whoever checks a terminal in a browser needs it.
  let views: Views | null = null;
  const openViews = lazy(async () => (views = new (await import("./view.ts")).Views(tmux)));
  const starterPath = join(options.configDirectory, "starter.sh");
  // Written out once, so that nothing depends on where we are installed while agents start.
  keepWritten(starterPath, starterText, 0o700);
  const context: LaunchContext = {
    tmux,
    socketName,
    files,
    watches,
    bootId,
    agents,
    env,
    starterPath,
    log: options.log ?? null,
    cgroups: options.cgroups ?? { make: () => null },
    contain,
    settle: { ...defaultSettle, ...options.settle },
  };
  const sendTimes = { ...defaultSendTimes, ...options.sendTimes };
  const typing = new Map<SessionId, Promise<unknown>>();

  return {
    preflight: () => tmux.preflight(),
    async observe(sessions) {
      const observed = await observeAll(context, sessions, fresh(early));
      early = null;
      for (const [id, { seen }] of observed) {
        if (seen.is !== "known") continue;
        const { agent, launch } = seen.value;
        hints.soon(agent.alive ? { session: id, agent: agent.identity, directory: files.directory(id, launch) } : null);
      }
      return observed;
    },
    mayHaveLeft: (session) => files.has(session.id),
    clear: (session) => files.has(session.id) && files.removeAll(session.id),
    hasFiles: (id) => files.has(id),
    clearDeleted: (wasDeleted) => clearDeleted(context, wasDeleted),
    async running() {
      const list = await listPanes(tmux);
      return list.is === "known" ? list.panes.map(({ session }) => session) : [];
    },
    async launch(request) {
      const result = await launch(context, request);
      if (!result.launched) return result;
      hints.follow(request.session.id, result.agent, files.directory(request.session.id, request.launch));
      // A resumed agent was waited for until it said something: nothing may come after that for a while.
      if (request.how === "resume") hints.tell(request.session.id);
      hints.listen();
      return result;
    },
    /** One at a time for each session: two texts must not mix in one composer. */
    send(session, prompt, through) {
      const turn = afterwards(typing.get(session.id), () => send(context, session, prompt, sendTimes, through));
      typing.set(session.id, turn);
      return turn;
    },
    confirm(session, prompt, options) {
      const turn = afterwards(typing.get(session.id), () => confirm(context, session, prompt, options));
      typing.set(session.id, turn);
      return turn;
    },
    async stop(session, how) {
      const result = await stop(context, session, how);
      if (result.remaining.length > 0) return result;
      hints.unfollow(session.id);
      typing.delete(session.id);
      return result;
    },
    capture: (session, lines) => capture(context, session, lines),
    attachCommand: (session) => tmux.attachArguments(watches.known(session.id)?.sessionName ?? tmuxName(session)),
    async view(session, request) {
      return (await openViews()).open(session, request);
    },
    onHint: (listener) => hints.add(listener),
    close: async () => {
      await Promise.all([hints.close(), views?.close()]);
      // A server that died on its own left its socket.
      await tmux.tidy();
    },
  };
}

async function clearDeleted({ tmux, files }: LaunchContext, wasDeleted: (id: SessionId) => boolean): Promise<void> {
  const deleted = files.sessions().filter(wasDeleted);
  const list = deleted.length === 0 ? null : await listPanes(tmux);
  if (list === null || list.is === "unknown") return;
  const shown = new Set(list.is === "known" ? list.panes.map(({ session }) => session) : []);
  for (const id of deleted.filter((one) => !shown.has(one))) {
    const left = await findTree(treeTarget({ id, run: { run: "none" } }, files, []));
    if (left.length === 0) files.removeAll(id);
  }
}

interface EarlyList {
  list: Promise<PaneList>;
  askedAt: number;
}

/** A first look that comes much later than the start wants to know how it is now. */
const earlySeconds = 0.5;

function fresh(early: EarlyList | null): Promise<PaneList> | null {
  return early !== null && process.uptime() - early.askedAt < earlySeconds ? early.list : null;
}

async function afterwards<T>(before: Promise<unknown> | undefined, then: () => Promise<T>): Promise<T> {
  await before?.catch(() => {});
  return then();
}

async function capture(context: LaunchContext, session: SessionState, lines: number): Promise<string> {
  const list = await listPanes(context.tmux);
  const own = list.is === "known" ? list.panes.filter((pane) => pane.session === session.id) : [];
  const pane = paneFor(own, expectedLaunch(session));
  if (pane === null) return "";
  const screens = await captureScreens(context.tmux, [pane.paneTarget], lines);
  return lastLines(screens.get(pane.paneTarget) ?? "", lines).join("\n");
}
