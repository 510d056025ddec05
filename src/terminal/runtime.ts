/** The tmux runtime: agents with a screen, in our own tmux server. */
import { join } from "node:path";
import type { Cgroups } from "../base/cgroup.ts";
import { keepWritten } from "../base/durable-file.ts";
import { Serial } from "../base/async.ts";
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
import { observeAll } from "./observe.ts";
import { listPanes, paneFor, paneLines } from "./panes.ts";
import { defaultSendTimes, send, type SendTimes } from "./send.ts";
import { defaultSettle, type Settle } from "./start.ts";
import { stop } from "./stop.ts";
import { Tmux } from "./tmux.ts";
import { Views } from "./view.ts";
import { Watches } from "./watch.ts";

export interface TmuxRuntimeOptions {
  /** Our own server's socket name; two homes must never share one. */
  socketName: string;
  /** The id of our home: sessions of another home are ignored. */
  home?: string;
  /** Where our config and starter are written. */
  configDirectory: string;
  launchesDirectory: string;
  agents: Agents;
  bootId: string;
  /** The agents' base environment, with `HOLDFAST_HOME` and without the daemon's secrets. */
  env: NodeJS.ProcessEnv;
  log?: Logger;
  /** Creates a cgroup per launch; none by default. */
  cgroups?: Pick<Cgroups, "make">;
  /** Without it contained sessions cannot be launched. */
  contain?: Containing;
  /** argv before `tmux` when a server is started, such as `systemd-run --user --scope --quiet --`. */
  serverPrefix?: readonly string[];
  /** How long one call of tmux may take before its result counts as unknown. */
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
  const hints = new Hints(tmux);
  const views = new Views(tmux);
  const starterPath = join(options.configDirectory, "starter.sh");
  // In the home, so that starting agents do not depend on where Holdfast is installed.
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
  const typing = new Serial();

  return {
    preflight: () => tmux.preflight(),
    async observe(sessions) {
      const observed = await observeAll(context, sessions);
      for (const [id, { seen }] of observed) {
        if (seen.is !== "known" || !seen.value.agent.alive) continue;
        hints.follow(id, seen.value.agent.identity, files.directory(id, seen.value.launch));
      }
      return observed;
    },
    mayHaveLeft: (session) => files.has(session.id),
    leftovers: (sessions) => files.among(sessions.map(({ id }) => id)),
    clear: (session) => files.has(session.id) && files.removeAll(session.id),
    hasFiles: (id) => files.has(id),
    clearDeleted: (wasDeleted) => clearDeleted(context, wasDeleted),
    async running() {
      const list = await listPanes(tmux);
      return list.panes.map(({ session }) => session);
    },
    async launch(request) {
      const result = await launch(context, request);
      if (!result.launched) return result;
      hints.follow(request.session.id, result.agent, files.directory(request.session.id, request.launch));
      // A resumed agent has already shown its first sign of life: no other hint may follow for a while.
      if (request.how === "resume") hints.notify(request.session.id);
      return result;
    },
    /** One at a time per session: two texts must not mix in one input line. */
    send: (session, prompt, through) =>
      typing.run(session.id, () => send(context, session, prompt, sendTimes, through)),
    confirm: (session, prompt, how) => typing.run(session.id, () => confirm(context, session, prompt, how)),
    async stop(session, how) {
      const result = await stop(context, session, how);
      if (result.remaining.length === 0) hints.unfollow(session.id);
      return result;
    },
    capture: (session, lines) => capture(context, session, lines),
    attachCommand: (session) => tmux.attachArguments(watches.known(session.id)?.sessionName ?? tmuxName(session)),
    view: (session, request) => views.open(session, request),
    onHint: (listener) => hints.add(listener),
    close: async () => {
      await Promise.all([hints.close(), views.close()]);
      // A server that exited on its own left its socket.
      await tmux.tidy();
    },
  };
}

async function clearDeleted({ tmux, files }: LaunchContext, wasDeleted: (id: SessionId) => boolean): Promise<void> {
  const deleted = files.sessions().filter(wasDeleted);
  const list = deleted.length === 0 ? null : await listPanes(tmux);
  if (list === null || list.is === "unknown") return;
  const shown = new Set(list.panes.map(({ session }) => session));
  for (const id of deleted.filter((one) => !shown.has(one))) {
    const left = await findTree(treeTarget({ id, run: { run: "none" } }, files, []));
    if (left.length === 0) files.removeAll(id);
  }
}

async function capture(context: LaunchContext, session: SessionState, lines: number): Promise<string> {
  const list = await listPanes(context.tmux);
  const pane = paneFor(list.panes, session);
  return pane === null ? "" : (await paneLines(context.tmux, pane, lines)).join("\n");
}
