/**
 * Finds and stops everything that one launch started. A process belongs to it if it descends from a root, shares the
 * process group or session of a member, or has the launch's marker in its environment: each of these can be escaped
 * (setsid, double fork, reparenting), but a daemonized child still has the environment. Everything in the launch's own
 * cgroup belongs to it as well; not every system allows one (cgroup.ts). The same is true for a contained launch's pid
 * namespace, which ends with its first process. Nothing is signaled by a bare pid, and never this process, its
 * ancestors or a tmux server.
 */
import { setImmediate as nextTick, setTimeout as delay } from "node:timers/promises";
import { cgroupMembers, killCgroup } from "./cgroup.ts";
import { bootId, isAlive, listProcesses, readProc, signalIdentity, type Identity, type ProcessStat } from "./pid.ts";
import { variableIn } from "./lineage.ts";
import { innerPid, pidNamespace } from "./pid-namespace.ts";

export interface TreeTarget {
  /** Processes known to belong, by identity; dead ones do no harm. */
  roots: readonly Identity[];
  /** `name=value` in every descendant's environment; a session may have had several launches. */
  marker: { name: string; values: readonly string[] } | null;
  /** The launches' own cgroups, if they have any. */
  cgroups?: readonly string[];
  /** First processes of contained launches' pid namespaces, if recorded. Absent: not contained. */
  firsts?: readonly Identity[];
}

export interface TreeMember {
  identity: Identity;
  what: string;
  /** Of a contained launch: the namespace's first process, and the one outside that reports the agent's exit. */
  part?: "first" | "outer";
}

export interface EndOptions {
  /** How long the tree may take to exit after SIGTERM. */
  politeMs: number;
  /** How long stopping and killing the rest may take. */
  forceMs: number;
  /** Helpers without state: once nothing else of the tree is left they are not waited for. */
  helpers?: readonly number[];
}

/** Interactive shells ignore SIGTERM; on SIGHUP they exit and pass it on to their jobs. */
const hangupAfterMs = 400;
const pollMs = 10;
/** A killed process exits within a tick unless it hangs in the kernel; then the next round checks again. */
const killRoundMs = 500;

/** Stops the tree in stages and returns what is still alive; empty means proven gone. */
export async function endTree(target: TreeTarget, options: EndOptions): Promise<TreeMember[]> {
  const left = await endPolitely(target, options.politeMs, options.helpers ?? []);
  if (left.length === 0) return [];
  return endByForce(target, options.forceMs);
}

/** Everything alive that belongs to the target. */
export async function findTree(target: TreeTarget): Promise<TreeMember[]> {
  const scanned = withCgroups(await readProcessTable(target.marker?.name ?? null), target.cgroups ?? []);
  const table = target.firsts === undefined ? scanned : withNamespaces(scanned);
  const roots = [...target.roots, ...(target.firsts ?? [])].filter(isAlive);
  const members = membersOf({ ...target, roots }, table, surroundings(table));
  const firsts = target.firsts === undefined ? [] : members.filter((stat) => isFirst(stat, table));
  return members.map((stat) => ({
    identity: identityOf(stat),
    what: describe(stat.pid),
    ...(firsts.includes(stat) ? { part: "first" as const } : {}),
    ...(firsts.some(({ parent }) => parent === stat.pid) ? { part: "outer" as const } : {}),
  }));
}

function withNamespaces(table: ProcessTable): ProcessTable {
  const all = table.stats.map(({ pid }): [number, string | null] => [pid, pidNamespace(pid)]);
  return { ...table, namespaces: new Map(all), ownNamespace: pidNamespace("self") };
}

function isFirst({ pid }: ProcessStat, { namespaces, ownNamespace }: ProcessTable): boolean {
  const inside = namespaces?.get(pid) ?? null;
  return inside !== null && inside !== ownNamespace && innerPid(pid) === 1;
}

/** Read after the processes: one started in between appears completely in the next snapshot. */
function withCgroups(table: ProcessTable, cgroups: readonly string[]): ProcessTable {
  return cgroups.length === 0 ? table : { ...table, inside: new Set(cgroups.flatMap(cgroupMembers)) };
}

async function endPolitely(target: TreeTarget, politeMs: number, helpers: readonly number[]): Promise<TreeMember[]> {
  const startedAt = performance.now();
  let known = await findTree(target);
  signalAll(asked(known), "SIGTERM");
  // A stopped process would never handle the signal.
  signalAll(known, "SIGCONT");
  let hungUp = false;
  for (;;) {
    known = known.filter((member) => isAlive(member.identity));
    if (asked(known).length === 0) {
      known = await findTree(target);
      if (known.length === 0) return [];
      // Started between the snapshot and the signal.
      signalAll(asked(known), "SIGTERM");
    }
    // Stopped before they are killed, like all that is forced: a process that a helper forks right now is found only by
    // its parent.
    if (known.every(({ identity }) => helpers.includes(identity.pid))) return known;
    const elapsed = performance.now() - startedAt;
    if (elapsed >= politeMs) return known;
    if (!hungUp && elapsed >= hangupAfterMs) {
      hungUp = true;
      signalAll(asked(known), "SIGHUP");
    }
    await delay(pollMs);
  }
}

/** Stops everything before killing, so nothing forks away between the snapshot and the signal. */
async function endByForce(target: TreeTarget, forceMs: number): Promise<TreeMember[]> {
  const until = performance.now() + forceMs;
  if (target.firsts !== undefined) await killNamespaces(target);
  for (;;) {
    const stopped = new Map<string, TreeMember>();
    let found = await findTree(target);
    while (found.some((member) => !stopped.has(keyOf(member.identity)))) {
      for (const member of found) stopped.set(keyOf(member.identity), member);
      signalAll(found, "SIGSTOP");
      found = await findTree(target);
    }
    if (found.length === 0) return [];
    await killCgroups(target.cgroups ?? []);
    signalAll([...stopped.values()], "SIGKILL");
    const roundEnds = performance.now() + killRoundMs;
    while (found.some((member) => isAlive(member.identity)) && performance.now() < roundEnds) await delay(pollMs);
    if (performance.now() >= until) return findTree(target);
  }
}

/**
 * Who receives the graceful signal. A namespace's first process ignores it, and the one outside would die of it while
 * the agent keeps running, with a status that is not the agent's.
 */
function asked(members: readonly TreeMember[]): TreeMember[] {
  return members.filter(({ part }) => part === undefined);
}

/**
 * Immediate and complete: the kernel kills a namespace with its first process. The waiting parent then sees the status.
 */
async function killNamespaces(target: TreeTarget): Promise<void> {
  const found = await findTree(target);
  signalAll(
    found.filter(({ part }) => part === "first"),
    "SIGKILL",
  );
  signalAll(
    found.filter(({ part }) => part === "outer"),
    "SIGCONT",
  );
  const roundEnds = performance.now() + killRoundMs;
  while (found.some((member) => isAlive(member.identity)) && performance.now() < roundEnds) await delay(pollMs);
}

/** Immediate and complete, unless it contains a process that must not be signaled: then one by one. */
async function killCgroups(cgroups: readonly string[]): Promise<void> {
  if (cgroups.length === 0) return;
  const { self, isBarred } = surroundings(await readProcessTable(null));
  for (const cgroup of cgroups) {
    if (!cgroupMembers(cgroup).some((pid) => pid === self || isBarred(pid))) killCgroup(cgroup);
  }
}

function signalAll(members: readonly TreeMember[], signal: NodeJS.Signals): void {
  for (const { identity } of members) signalIdentity(identity, signal);
}

const keyOf = (identity: Identity): string => `${identity.pid}:${identity.startTime}`;
const identityOf = (stat: ProcessStat): Identity => ({ bootId: bootId(), pid: stat.pid, startTime: stat.startTime });

export interface ProcessTable {
  stats: ProcessStat[];
  /** Value of the marker in the environment, by pid. */
  markers: Map<number, string>;
  /** Pids in the target's cgroups. */
  inside?: ReadonlySet<number>;
  /** Pid namespaces by pid, read only for contained launches. */
  namespaces?: ReadonlyMap<number, string | null>;
  ownNamespace?: string | null;
}

/** Processes that must never be signaled, and that the walk from parent to child must not pass. */
export interface Surroundings {
  self: number;
  /** Our ancestors and tmux servers: their processes are not ours to stop. */
  isBarred: (pid: number) => boolean;
  /** If this process was started inside the launch, the marker does not identify its own descendants. */
  ownMarker: string | null;
}

/** Pure: the members of the target, roots first. */
export function membersOf(target: TreeTarget, table: ProcessTable, around: Surroundings): ProcessStat[] {
  const byPid = new Map(table.stats.map((stat) => [stat.pid, stat]));
  const wanted = new Set(target.marker?.values ?? []);
  const members = new Map<number, ProcessStat>();
  /** Namespaces of members: everything in one of them belongs. */
  const namespaces = new Set<string>();
  const add = (stat: ProcessStat): boolean => {
    if (stat.pid <= 1 || stat.pid === around.self || members.has(stat.pid) || around.isBarred(stat.pid)) return false;
    members.set(stat.pid, stat);
    const inside = table.namespaces?.get(stat.pid) ?? null;
    if (inside !== null && inside !== table.ownNamespace) namespaces.add(inside);
    return true;
  };
  for (const root of target.roots) {
    const stat = byPid.get(root.pid);
    if (stat !== undefined && stat.startTime === root.startTime) add(stat);
  }
  for (const stat of table.stats) if (table.inside?.has(stat.pid) === true) add(stat);
  for (const stat of table.stats) {
    const value = table.markers.get(stat.pid);
    if (value === undefined || !wanted.has(value)) continue;
    if (value === around.ownMarker && descendsFrom(stat, around.self, byPid)) continue;
    add(stat);
  }
  // Children, groups and sessions may each add more of the others.
  for (let grew = true; grew;) {
    grew = false;
    for (const stat of table.stats) {
      // A group or session counts only if a member leads it: a process can be put into a foreign one.
      const belongs =
        members.has(stat.parent) ||
        members.has(stat.group) ||
        members.has(stat.session) ||
        namespaces.has(table.namespaces?.get(stat.pid) ?? "");
      if (belongs && add(stat)) grew = true;
    }
  }
  return [...members.values()];
}

function descendsFrom(stat: ProcessStat, ancestor: number, byPid: Map<number, ProcessStat>): boolean {
  for (let at: ProcessStat | undefined = stat; at !== undefined && at.pid > 1; at = byPid.get(at.parent)) {
    if (at.parent === ancestor) return true;
  }
  return false;
}

function surroundings(table: ProcessTable): Surroundings {
  const byPid = new Map(table.stats.map((stat) => [stat.pid, stat]));
  const ancestors = new Set<number>();
  for (let at = byPid.get(process.ppid); at !== undefined && at.pid > 1; at = byPid.get(at.parent)) {
    ancestors.add(at.pid);
  }
  const isBarred = (pid: number): boolean => ancestors.has(pid) || isTmuxServer(pid);
  return { self: process.pid, isBarred, ownMarker: table.markers.get(process.pid) ?? null };
}

/** tmux gives its server process this name on Linux, whatever its binary is called. */
export function isTmuxServer(pid: number): boolean {
  return readProc(pid, "comm").startsWith("tmux: server");
}

let nextTable: { marker: string | null; table: Promise<ProcessTable> } | undefined;

/** A snapshot that begins after the call; callers of the same tick share one, because it reads all of /proc. */
export function readProcessTable(marker: string | null): Promise<ProcessTable> {
  if (nextTable !== undefined && nextTable.marker === marker) return nextTable.table;
  const table = nextTick().then(() => {
    if (nextTable?.table === table) nextTable = undefined;
    return scan(marker);
  });
  nextTable = { marker, table };
  return table;
}

/** Yields to the event loop after this many processes. */
const scanChunk = 200;

async function scan(marker: string | null): Promise<ProcessTable> {
  const stats = listProcesses();
  const markers = new Map<number, string>();
  if (marker === null) return { stats, markers };
  for (const [index, stat] of stats.entries()) {
    const value = variableIn(readProc(stat.pid, "environ"), marker);
    if (value !== null) markers.set(stat.pid, value);
    if (index % scanChunk === scanChunk - 1) await nextTick();
  }
  return { stats, markers };
}

/** Length of a command in a message. */
const describedLength = 120;

function describe(pid: number): string {
  const command = readProc(pid, "cmdline").replaceAll("\0", " ").trim();
  return (command === "" ? readProc(pid, "comm").trim() : command).slice(0, describedLength);
}
