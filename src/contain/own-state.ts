/**
 * Replaces the folders in which an agent keeps state with the contained session's own: settings and hooks planted there
 * run in no other session, and `rm -rf ~` deletes no other conversation.
 */
import { cpSync, lstatSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { OwnFolder } from "../ports/agents.ts";

export interface OwnState {
  /** From outside, to inside. */
  mounts: { from: string; to: string }[];
  env: Record<string, string>;
}

/** Creates the session's own folders and returns where to mount them. */
export function ownState(
  folders: readonly OwnFolder[],
  ownHome: string,
  env: Readonly<Record<string, string>>,
): OwnState {
  const home = env["HOME"] ?? "/";
  const state: OwnState = { mounts: [], env: {} };
  for (const folder of folders) {
    const real = folderPath(folder, home, env);
    const own = join(ownHome, folder.name);
    takeOver(home, real, own, folder.copy);
    state.mounts.push({ from: own, to: real });
    if (folder.variable !== undefined) state.env[folder.variable] = real;
    for (const name of folder.share) {
      if (statSync(join(real, name), { throwIfNoEntry: false })?.isFile() !== true) continue;
      clearPlanted(join(own, name));
      state.mounts.push({ from: join(real, name), to: join(real, name) });
    }
  }
  return state;
}

function folderPath(
  { name, variable = "", around = "" }: OwnFolder,
  home: string,
  env: Readonly<Record<string, string>>,
): string {
  const named = env[variable] ?? "";
  if (named !== "") return named;
  const outer = env[around] ?? "";
  return outer === "" ? join(home, name) : join(outer, basename(name));
}

function takeOver(home: string, real: string, own: string, names: readonly string[]): void {
  if (lstatSync(own, { throwIfNoEntry: false })?.isDirectory() === true) return;
  mkdirSync(dirname(own), { recursive: true, mode: 0o700 });
  // By rename: a copy that was cut off must not count as one.
  const fresh = `${own}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  for (const name of names) {
    const from = name.startsWith("~/") ? join(home, name.slice(2)) : join(real, name);
    const to = name === "." ? fresh : join(fresh, basename(name));
    if (statSync(from, { throwIfNoEntry: false }) === undefined) continue;
    cpSync(from, to, { recursive: true, force: false, dereference: true, filter: isPlain });
  }
  renameSync(fresh, own);
}

/** Sockets and pipes cannot be copied, and a dangling link is not a setting. */
function isPlain(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true || stat?.isDirectory() === true;
}

/** bwrap creates the file that it mounts on, and would follow a link that the agent left there. */
function clearPlanted(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile()) rmSync(path, { recursive: true, force: true });
}
