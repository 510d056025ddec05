/** One check every pane of our server: a single `list-panes -a`, whatever the number of sessions. */
import { constants } from "node:os";
import { identify, signalIdentity } from "../base/pid.ts";
import { isTmuxServer } from "../base/process-tree.ts";
import { asLaunchId, asSessionId, type ExitStatus, type LaunchId, type SessionId } from "../contract/ids.ts";
import { expectedLaunch } from "../model/runs.ts";
import type { SessionState } from "../model/session.ts";
import { captureScreens, lastLines } from "./screen.ts";
import type { Tmux } from "./tmux.ts";

export interface Pane {
  session: SessionId;
  launch: LaunchId;
  /** `$n` and `%n`: exact targets for as long as the server lives. */
  sessionTarget: string;
  paneTarget: string;
  pid: number;
  serverPid: number;
  dead: boolean;
  exit: ExitStatus | null;
  inMode: boolean;
  /** Changes when the screen may have changed; the server tells time in complete seconds only. */
  changeKey: string;
  activeAt: number;
  sessionName: string;
  tty: string;
  title: string;
}

export const sessionOption = "@holdfast-session";
export const launchOption = "@holdfast-launch";
/** Set on the agent's own pane: a user may have split the window. */
export const agentPaneOption = "@holdfast-agent";

/** The id of the home that made the session: a server may hold sessions of another home under the same socket name. */
export const homeOption = "@holdfast-home";

const fields = [
  sessionOption,
  launchOption,
  agentPaneOption,
  "session_id",
  "pane_id",
  "pane_pid",
  "pid",
  "pane_dead",
  "pane_dead_status",
  "pane_dead_signal",
  "pane_in_mode",
  "window_activity",
  "history_size",
  "cursor_x",
  "cursor_y",
  "session_name",
  "pane_tty",
  homeOption,
  // Last, because an agent chooses it.
  "pane_title",
];
const separator = "\t";
export const paneFormat = fields.map((field) => `#{${field}}`).join(separator);

/** `panes` is empty unless the list is known. */
export type PaneList = { panes: Pane[] } & ({ is: "known" } | { is: "no-server" } | { is: "unknown"; why: string });

export async function listPanes(tmux: Tmux, deadlineMs?: number): Promise<PaneList> {
  const commands = [["list-panes", "-a", "-F", paneFormat]];
  const reply = await tmux.run(deadlineMs === undefined ? { commands } : { commands, deadlineMs });
  if (reply.is === "ok") return { is: "known", panes: parsePanes(reply.stdout, tmux.home) };
  return { panes: [], ...(reply.is === "refused" ? { is: "unknown", why: reply.message } : reply) };
}

/** The last lines of a pane; none if it is gone. */
export async function paneLines(
  tmux: Tmux,
  { paneTarget }: Pick<Pane, "paneTarget">,
  lines: number,
): Promise<string[]> {
  const screens = await captureScreens(tmux, [paneTarget], lines);
  return lastLines(screens.get(paneTarget) ?? "", lines);
}

/** Panes without our options are somebody's own and are left alone. */
export function parsePanes(text: string, home: string | null = null): Pane[] {
  return text.split("\n").flatMap((line) => parsePane(line, home) ?? []);
}

function parsePane(line: string, home: string | null): Pane | null {
  const parts = line.split(separator);
  const [
    session,
    launch,
    agent,
    sessionTarget,
    paneTarget,
    pid,
    server,
    dead,
    status,
    signal,
    mode,
    active,
    history,
    x,
    y,
    name,
    tty,
    maker = "",
  ] = parts;
  if (session === undefined || session === "" || launch === undefined || launch === "" || agent !== "1") return null;
  // Sessions of earlier builds do not name their home.
  if (home !== null && maker !== "" && maker !== home) return null;
  if (sessionTarget === undefined || paneTarget === undefined || name === undefined || tty === undefined) return null;
  return {
    session: asSessionId(session),
    launch: asLaunchId(launch),
    sessionTarget,
    paneTarget,
    pid: Number(pid),
    serverPid: Number(server),
    dead: dead === "1",
    exit: dead === "1" ? exitStatus(status ?? "", signal ?? "") : null,
    inMode: mode === "1",
    changeKey: [active, history, x, y].join(","),
    activeAt: Number(active) * 1000,
    sessionName: name,
    tty,
    title: parts.slice(fields.length - 1).join(separator),
  };
}

/** tmux tells either the code or the number of the signal; before 3.3 it told no signal. */
function exitStatus(status: string, signal: string): ExitStatus | null {
  if (signal !== "") return { code: null, signal: signalName(Number(signal)) };
  return status === "" ? null : { code: Number(status), signal: null };
}

const signalNames = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]));

function signalName(number: number): string {
  return signalNames.get(number) ?? `signal ${number}`;
}

/**
 * Whether tmux still has to say how the pane's process ended: between its death and that word the pane looks alive, or
 * dead without a status.
 */
export function awaitsExit(pane: Pane, alive?: ReadonlyMap<number, unknown>): boolean {
  if (pane.dead) return pane.exit === null;
  return alive === undefined ? identify(pane.pid) === null : !alive.has(pane.pid);
}

/** For panes that await their exit: tmux misses a SIGCHLD now and then (seen in 8 of 60 deaths) and then never learns how the process ended: remind it. */
export function remind(panes: readonly Pane[]): void {
  for (const serverPid of new Set(panes.map((pane) => pane.serverPid))) {
    const server = isTmuxServer(serverPid) ? identify(serverPid) : null;
    if (server !== null) signalIdentity(server, "SIGCHLD");
  }
}

export async function removeSession(tmux: Tmux, pane: Pick<Pane, "sessionTarget">): Promise<void> {
  await tmux.run({ commands: [["kill-session", "-t", pane.sessionTarget]] });
}

/** A session's pane: of the expected launch, else a living one, else any. */
export function paneFor(panes: readonly Pane[], session: Pick<SessionState, "id" | "run">): Pane | null {
  const own = panes.filter((pane) => pane.session === session.id);
  const expected = expectedLaunch(session);
  return own.find((pane) => pane.launch === expected) ?? own.find((pane) => !pane.dead) ?? own[0] ?? null;
}
