/**
 * Whether a caller is the user or an agent: by the origin of the calling process, then by the capability of its launch. A
 * request's own claims can only remove rights. Pure.
 */
import type { AgentLaunch, Claims, Peer } from "../../contract/caller.ts";
import type { Actor, LaunchId, SessionId } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";

/** A process and its ancestors, the process itself first. */
export interface Lineage {
  /** Text of its /proc/<pid>/cgroup. */
  cgroup: string;
  line: readonly Ancestor[];
}

export interface Ancestor {
  pid: number;
  startTime: string;
  /** From its environment: HOLDFAST_LAUNCH, HOLDFAST_SESSION and HOLDFAST_HOME. */
  launch: string | null;
  session: string | null;
  home: string | null;
  /** HOLDFAST_MAKING: the worktree of a postCreate command. */
  making: string | null;
}

export interface Launches {
  /** The home directory, and the name of the cgroup that contains its launches' cgroups. */
  home: string;
  cgroup: string;
  worktrees: string;
  sessions: readonly Pick<SessionState, "id" | "run">[];
  isShell: (session: string) => boolean;
}

/**
 * The launch that a process belongs to. The oldest ancestor decides: an agent can set another launch's variables only for
 * its own children. A shell session acts as the user, but a shell inside an agent is the agent.
 */
export function peerOf(lineage: Lineage, launches: Launches): Peer {
  const running = launches.sessions.filter((session) => currentLaunch(session) !== null);
  const index: Index = {
    byLaunch: new Map(running.map((session) => [currentLaunch(session)!, session])),
    byPid: new Map(running.flatMap((one) => (one.run.run === "up" && one.run.agent ? [[one.run.agent.pid, one]] : []))),
  };
  const inside = byCgroup(lineage.cgroup, launches, running);
  if (inside !== null) return inside;
  for (const ancestor of lineage.line.toReversed()) {
    const found =
      byIdentity(ancestor, launches, index) ?? byMarker(ancestor, launches, index) ?? bySetup(ancestor, launches);
    if (found !== null) return found;
  }
  return { is: "person" };
}

type Running = Launches["sessions"][number];

/** Sessions with a launch, cached: a home may have hundreds, and every connection needs them. */
interface Index {
  byLaunch: ReadonlyMap<string, Running>;
  byPid: ReadonlyMap<number, Running>;
}

/** The current launch of a session, or null. */
export function currentLaunch({ run }: Pick<SessionState, "run">): LaunchId | null {
  return run.run === "up" || run.run === "launching" ? run.launch : null;
}

function byCgroup(text: string, launches: Launches, sessions: readonly Running[]): Peer | null {
  for (const line of text.split("\n")) {
    const parts = line.split("/");
    const name = parts[parts.indexOf(launches.cgroup, 1) + 1];
    if (!parts.includes(launches.cgroup, 1) || name === undefined) continue;
    const running = sessions.find((one) => `${one.id}-${currentLaunch(one)}` === name);
    if (running !== undefined) {
      if (!launches.isShell(running.id)) return agent(running.id, currentLaunch(running)!);
      continue;
    }
    const session = name.slice(0, -launchIdLength - 1);
    if (!launches.isShell(session)) return { is: "ended", session };
  }
  return null;
}

/** A launch id is a UUID. */
const launchIdLength = 36;

function byIdentity({ pid, startTime }: Ancestor, launches: Launches, { byPid }: Index): Peer | null {
  const found = byPid.get(pid);
  if (found?.run.run !== "up" || found.run.agent?.startTime !== startTime || launches.isShell(found.id)) return null;
  return agent(found.id, found.run.launch);
}

function byMarker({ launch, session, home }: Ancestor, launches: Launches, { byLaunch }: Index): Peer | null {
  if (launch === null) return null;
  const found = byLaunch.get(launch);
  if (found !== undefined) return launches.isShell(found.id) ? null : agent(found.id, launch as LaunchId);
  // Launches of another home are not ours to restrict.
  if (home !== launches.home || launches.isShell(session ?? "")) return null;
  return { is: "ended", session: session ?? "" };
}

/** The user configured the command, but an agent may have written the files it runs: a worktree can start at an agent's branch. */
function bySetup({ making }: Ancestor, { worktrees }: Launches): Peer | null {
  return making?.startsWith(`${worktrees}/`) === true ? { is: "setup" } : null;
}

function agent(session: SessionId, launch: LaunchId): Peer {
  return { is: "agent", session, launch };
}

export type Caller = { may: true; actor: Actor } | { may: false; message: string; hint: string };

/**
 * @param peer looked up when the connection opened.
 * @param held the launch that the capability proves; null if it is missing or invalid.
 */
export function callerOf(peer: Peer, claims: Claims, held: AgentLaunch | null): Caller {
  if (peer.is === "ended") return refused(`This process belongs to a launch of ${peer.session} that has ended.`);
  if (peer.is === "setup") return refused("postCreate commands cannot call Holdfast.");
  if (claims.capability !== null && held === null) {
    return refused("The capability of this request is invalid: its launch has ended, or it belongs to another home.");
  }
  if (peer.is === "agent" && held !== null && peer.launch !== held.launch) {
    return refused(
      `This process belongs to ${peer.session}, but its request carries the capability of ${held.session}.`,
    );
  }
  const launch = peer.is === "agent" ? peer : held;
  if (launch !== null) return { may: true, actor: `session:${launch.session}` };
  if (peer.is === "gone")
    return refused(
      `${peer.why === undefined ? "The calling process has exited or is not visible to the daemon" : `The calling process cannot be looked up: ${peer.why}`}, so Holdfast cannot identify the caller.`,
    );
  if (claims.listener === "agents") {
    return refused("This socket is for agents, and this process has no valid capability of an agent.");
  }
  return { may: true, actor: claims.session === null ? "person" : `session:${claims.session}` };
}

function refused(message: string): Caller {
  return { may: false, message, hint: "Run it in your own terminal, outside of every session." };
}
