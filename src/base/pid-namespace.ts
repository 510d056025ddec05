/**
 * Pid namespaces, as bubblewrap creates them: `outer` (the started process) > `first` (pid 1 inside) > the agent. All
 * have ordinary pids here. Everything inside stays in the namespace, and ends with its first process.
 */
import { readlinkSync } from "node:fs";
import { identify, type Identity, readProc } from "./pid.ts";

/** The kernel's name for it; null if the process has exited or is not ours. */
export function pidNamespace(pid: number | "self"): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return null;
  }
}

/** The process's pid as seen inside; null if it has exited. */
export function innerPid(pid: number): number | null {
  const line = /^NSpid:\s+(.*)$/m.exec(readProc(pid, "status"))?.[1];
  const last = line?.split(/\s+/).at(-1);
  return last === undefined ? null : Number(last);
}

/** The first process of the namespace that `outer` created; null if missing. */
export function firstWithin(outer: number): Identity | null {
  const own = pidNamespace(outer);
  for (const child of childrenOf(outer)) {
    const inside = pidNamespace(child);
    if (inside !== null && inside !== own && innerPid(child) === 1) return identify(child);
  }
  return null;
}

/** The first program inside; null before it starts. */
export function programWithin(outer: number): number | null {
  const first = firstWithin(outer);
  return first === null ? null : (childrenOf(first.pid)[0] ?? null);
}

/** The process inside, not far below `outer`, whose own pid is this; null if it does not exist. */
export function findInner(outer: number, pid: number): number | null {
  let level = childrenOf(outer);
  for (let depth = 0; depth < maxDepth && level.length > 0; depth += 1) {
    const found = level.find((one) => innerPid(one) === pid);
    if (found !== undefined) return found;
    level = level.flatMap(childrenOf);
  }
  return null;
}

/** bwrap's two, what bridges the network, a shell, and the agent. */
const maxDepth = 5;

export function childrenOf(pid: number): number[] {
  const words = readProc(pid, `task/${pid}/children`).split(" ");
  return words.flatMap((word) => (word === "" ? [] : [Number(word)]));
}
