/**
 * Finds worktrees, launch directories and tmux sessions that no longer belong to a session. They are listed before the
 * daemon's sessions are, so that nothing created meanwhile is taken for an orphan.
 */
import { execFile } from "node:child_process";
import { lstatSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { readJson } from "../../base/durable-file.ts";
import { isAlive } from "../../base/pid.ts";
import { recordFile, type AgentRecord } from "../../contract/worker-record.ts";
import type { Context } from "../context.ts";
import { findDaemon } from "../system/daemon/find-daemon.ts";
import { quoteShellWord } from "../../model/text.ts";
import { type Finding, finding } from "./finding.ts";

const check = "leftovers";
const tmuxDeadlineMs = 5_000;

export async function checkStrays(context: Context): Promise<Finding[]> {
  const { paths } = context;
  const worktrees = directories(paths.worktrees)
    // `.spare` and `.scratch` are the daemon's own.
    .filter((name) => !name.startsWith("."))
    .flatMap((project) =>
      directories(join(paths.worktrees, project)).map((name) => join(paths.worktrees, project, name)),
    );
  const launches = directories(paths.launches);
  const workers = directories(paths.workers);
  const tmux = await listTmux(context);
  const hasNone = worktrees.length + launches.length + workers.length === 0;
  if (hasNone && tmux.is === "sessions" && tmux.sessions.length === 0) return [];
  if (findDaemon(paths).daemon !== "running") {
    const message = "Cannot check for orphaned worktrees and tmux sessions while the daemon is down.";
    return [finding(check, "info", message, { fix: "holdfast start, then holdfast doctor again" })];
  }
  const sessions = await context.call("sessions").catch(() => null);
  // The check of the daemon itself reports why.
  if (sessions === null) return [];
  const ids = new Set(sessions.map(({ id }) => id));
  const known = new Set(sessions.map(({ workspacePath }) => workspacePath));
  const running = tmux.is === "sessions" ? tmux.sessions.filter(({ session }) => !ids.has(session)) : [];
  const inTmux = new Set(running.map(({ session }) => session));
  const chats = workers
    .filter((id) => !ids.has(id))
    .map((id) => ({ id, path: join(paths.workers, id), pid: livingAgent(join(paths.workers, id)) }));
  const inUse = new Set([...inTmux, ...chats.flatMap(({ id, pid }) => (pid === null ? [] : [id]))]);
  return [
    ...worktrees.filter((path) => !known.has(path)).map((path) => strayWorktree(path, inUse.has(basename(path)))),
    ...running.map(({ name }) => strayTmux(paths.tmuxSocket, name)),
    ...launches
      .filter((id) => !ids.has(id))
      .map((id) => strayLaunch(join(paths.launches, id), inTmux.has(id) ? "running" : "ended")),
    ...chats.map(({ id, path, pid }) => (pid === null ? strayLaunch(path, "running") : strayChat(id, path, pid))),
    ...(tmux.is === "no-server"
      ? [finding(check, "info", `Stale tmux socket: ${tmux.socket}`, { fix: "The next session reuses it." })]
      : []),
  ];
}

/** Not fixed: there may be work in it. */
function strayWorktree(path: string, inUse: boolean): Finding {
  const remove = `Save what you need, then run in its repository: git worktree remove ${quoteShellWord(path)}`;
  return finding(check, "warn", `Orphaned worktree: ${path}`, {
    fix: inUse ? "An agent runs in it (see below). Keep it until that has exited." : remove,
  });
}

/** How an agent becomes unknown, and the only way to supervise it again. */
const older = "If you restored an older database, the newer one supervises it again.";

/** Not fixed: an agent may be working in it. */
function strayTmux(socket: string, name: string): Finding {
  const target = quoteShellWord(`=${name}`);
  return finding(check, "warn", `Orphaned tmux session: ${name}`, {
    fix: `${older} Attach: tmux -L ${socket} attach -t ${target} - Kill it: tmux -L ${socket} kill-session -t ${target}`,
  });
}

/** Not fixed: the agent may be in the middle of a turn. */
function strayChat(id: string, path: string, pid: number): Finding {
  return finding(check, "warn", `Orphaned chat agent: ${id} (pid ${pid})`, {
    fix: `${older} Its output: ${quoteShellWord(path)} - Kill it: kill ${pid}`,
  });
}

/** The pid of the agent in a chat's record, if it is alive. */
function livingAgent(directory: string): number | null {
  const read = readJson(join(directory, recordFile));
  const record = read.is === "known" ? (read.value as Partial<AgentRecord>) : {};
  const { agent, bootId } = record;
  if (agent === undefined || agent === null || bootId === undefined) return null;
  return isAlive({ bootId, ...agent }) ? agent.pid : null;
}

function strayLaunch(path: string, state: "running" | "ended"): Finding {
  const fix = `rm -r ${quoteShellWord(path)}`;
  const message = `Orphaned agent files: ${path}`;
  if (state === "running") return finding(check, "warn", message, { fix: `When it is no longer in use: ${fix}` });
  return finding(check, "warn", message, { fix, repair: () => rmSync(path, { recursive: true, force: true }) });
}

type TmuxList =
  | { is: "sessions"; sessions: { session: string; name: string }[] }
  /** The socket exists, but has no listener. */
  | { is: "no-server"; socket: string }
  | { is: "unknown" };

async function listTmux({ paths, env }: Context): Promise<TmuxList> {
  // Without TMUX_TMPDIR, like the daemon's own calls.
  const { TMUX: _tmux, TMUX_TMPDIR: _directory, ...clean } = env;
  const socket = join("/tmp", `tmux-${process.getuid?.() ?? 0}`, paths.tmuxSocket);
  if (lstatSync(socket, { throwIfNoEntry: false }) === undefined) return { is: "sessions", sessions: [] };
  const args = ["-u", "-L", paths.tmuxSocket, "list-sessions", "-F", "#{@holdfast-session}\t#{session_name}"];
  return new Promise((resolve) => {
    execFile("tmux", args, { env: clean, timeout: tmuxDeadlineMs, cwd: tmpdir() }, (error, stdout, stderr) => {
      if (error === null) resolve({ is: "sessions", sessions: parseTmux(stdout) });
      else if (/no server running|error connecting/.test(stderr)) resolve({ is: "no-server", socket });
      else resolve({ is: "unknown" });
    });
  });
}

/** A session without our option is the user's own. */
function parseTmux(text: string): { session: string; name: string }[] {
  return text.split("\n").flatMap((line) => {
    const [session = "", name = ""] = line.split("\t");
    return session === "" ? [] : [{ session, name }];
  });
}

function directories(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
