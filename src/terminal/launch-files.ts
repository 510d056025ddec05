/**
 * The directory of one launch: `<launches>/<session>/<launch>/`, 0700. Holds the agent's hook files, the lines that
 * hooks write, what was decided for this launch (conversation id, prompt given), and until the agent runs its argv and
 * environment. Nothing in it is used by a later launch.
 */
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { attempt } from "../base/attempt.ts";
import { forgetCgroup } from "../base/cgroup.ts";
import type { Identity } from "../base/pid.ts";
import type { TerminalAgent } from "../ports/agents.ts";
import { asLaunchId, asSessionId, type LaunchId, type SessionId } from "../contract/ids.ts";
import { expectedLaunch } from "../model/runs.ts";
import type { SessionState } from "../model/session.ts";
import type { TreeTarget } from "../base/process-tree.ts";

/** In the environment of the agent and of everything it starts; its value is the launch id. */
export const launchMarker = "HOLDFAST_LAUNCH";

/** All processes of every launch of this session. */
export function treeTarget(
  session: Pick<SessionState, "id" | "run">,
  files: LaunchFiles,
  roots: readonly Identity[],
): TreeTarget {
  const recorded = session.run.run === "up" && session.run.agent !== null ? [session.run.agent] : [];
  const current = [expectedLaunch(session) ?? []].flat();
  const notes = files.notes(session.id);
  const contained = notes.flatMap((note) => note.contained ?? []);
  return {
    roots: [...roots, ...recorded],
    marker: { name: launchMarker, values: [...new Set([...notes.map(({ launch }) => launch), ...current])] },
    cgroups: notes.flatMap(({ cgroup = null }) => (cgroup === null ? [] : [cgroup])),
    ...(contained.length === 0 ? {} : { firsts: contained.flatMap(({ first }) => first ?? []) }),
  };
}

/** Longer names are cut and get a hash. */
const maxNameLength = 80;
const hashLength = 8;

/** `worker-<project>-<id>`, `orchestrator-<project>`, `shell-<project>-<n>`, with nothing in it that tmux reads. */
export function tmuxName(session: Pick<SessionState, "role" | "project" | "id">): string {
  const { role, project, id } = session;
  const last = { worker: `-${id}`, orchestrator: "", shell: `-${id.slice(id.indexOf("-") + 1)}` }[role];
  return safeName(`${role}-${project}${last}`);
}

/** A second name for when the first is taken by something else. */
export function otherName(name: string, session: string): string {
  return `${name.slice(0, maxNameLength - hashLength - 1)}-${hash(session)}`;
}

/** Letters and digits of any script, `_` and `-`. Different texts give different names. */
export function safeName(text: string): string {
  // The common case, called for each session at each observation.
  if (text.length <= maxNameLength && /^[A-Za-z0-9_-]+$/.test(text)) return text;
  const safe = text.normalize("NFC").replaceAll(/[^\p{L}\p{M}\p{N}_-]/gu, "_");
  const characters = Array.from(safe);
  if (safe === text && characters.length <= maxNameLength) return safe;
  return `${characters.slice(0, maxNameLength - hashLength - 1).join("")}-${hash(text)}`;
}

function hash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, hashLength);
}

/**
 * What runs in a pane first: a few lines of POSIX sh that read the launch's private file and then *become* the agent,
 * so that the pane's process is the agent itself and tmux knows its exit code and signal exactly. Arguments and
 * environment go through a 0600 file: every user can read argv, and tmux limits it to 16 KB.
 */
export const starterText = `#!/bin/sh
# Written by Holdfast. usage: starter.sh <launch directory>
set -u
# The agent's own tmux commands must not reach the server that holds it.
unset TMUX TMUX_PANE
holdfast_workspace=/
holdfast_cgroup=
holdfast_launch_directory=$1
# Sets holdfast_workspace and holdfast_cgroup, exports the environment, and makes the agent's argv the arguments.
# shellcheck disable=SC1091
. "$holdfast_launch_directory/run"
# Emptied once read: a sign that the launch got this far, and nothing secret stays on disk.
: >"$holdfast_launch_directory/run"
# All that the agent starts stays in this cgroup; without it the agent runs all the same.
[ -z "$holdfast_cgroup" ] || { echo 0 >"$holdfast_cgroup"; } 2>/dev/null || :
cd -- "$holdfast_workspace" || exit 126
unset OLDPWD holdfast_launch_directory holdfast_workspace holdfast_cgroup
exec "$@"
`;

interface RunFile {
  /** An argument of `umask`; null keeps the server's. */
  umask: string | null;
  workspace: string;
  /** Writing `0` to this file moves the writer into the launch's cgroup; null if there is none. */
  cgroup: string | null;
  env: Readonly<Record<string, string>>;
  argv: readonly string[];
}

const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Some shells refuse to assign these, and would exit. */
const shellOwned = new Set(["UID", "EUID", "PPID", "SHELLOPTS", "BASHOPTS", "BASH_VERSINFO", "IFS", "_"]);

/** The file that the starter reads: only assignments, `umask` and one `set --`, every value in single quotes. */
export function runFileText(run: RunFile): string {
  const lines = [`holdfast_workspace=${quote(run.workspace)}`];
  if (run.cgroup !== null) lines.push(`holdfast_cgroup=${quote(run.cgroup)}`);
  // The server keeps the umask of the daemon that started it.
  if (run.umask !== null) lines.push(`umask ${run.umask}`);
  for (const [name, value] of Object.entries(run.env)) {
    // sh cannot export other names; agents do not use them.
    if (variableName.test(name) && !shellOwned.has(name)) lines.push(`export ${name}=${quote(value)}`);
  }
  lines.push(`set -- ${run.argv.map(quote).join(" ")}`, "");
  return lines.join("\n");
}

/** Inside single quotes sh reads nothing but the closing quote. A NUL cannot be passed to any program. */
function quote(text: string): string {
  return `'${text.replaceAll("\0", "").replaceAll("'", `'\\''`)}'`;
}

/** What a later daemon must know about this launch. */
export interface LaunchNote {
  launch: LaunchId;
  /** The conversation id we chose or resumed. */
  agentSessionId: string | null;
  promptTaken: boolean;
  /** Directory of its cgroup, if it has one. */
  cgroup?: string | null;
  /** Whether it resumed a conversation. */
  resumed?: boolean;
  /** Only in the note of a contained launch: the first process of its pid namespace, once it is known. */
  contained?: { first: Identity | null };
}

export class LaunchFiles {
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    mkdirSync(root, { recursive: true, mode: 0o700 });
  }

  directory(session: SessionId, launch: LaunchId): string {
    // Not by join(): it is slow, and a start builds hundreds of them.
    return `${this.#root}/${safeName(session)}/${safeName(launch)}`;
  }

  /** Every launch of this session that left a directory. */
  notes(session: SessionId): LaunchNote[] {
    return this.#names(session).flatMap((name) => readNote(join(this.#root, safeName(session), name)) ?? []);
  }

  note(session: SessionId, launch: LaunchId): LaunchNote | null {
    return readNote(this.directory(session, launch));
  }

  /** The agent's hook files, written before the rest: a contained launch has them mounted. */
  writeHooks(session: SessionId, launch: LaunchId, hooks: TerminalAgent["files"]): void {
    const directory = this.directory(session, launch);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    for (const file of hooks) {
      const path = resolve(directory, file.name);
      if (!path.startsWith(directory + sep)) throw new Error(`hook file ${file.name} lies outside its launch`);
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, file.text, { mode: file.executable === true ? 0o700 : 0o600 });
      if (file.executable === true) chmodSync(path, 0o700);
    }
  }

  write(session: SessionId, note: LaunchNote, run: RunFile): void {
    const directory = this.directory(session, note.launch);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileSync(join(directory, "launch.json"), JSON.stringify(note), { mode: 0o600 });
    writeFileSync(join(directory, "run"), runFileText(run), { mode: 0o600 });
  }

  /** In place: a contained launch has this file mounted read-only. */
  amend(session: SessionId, note: LaunchNote): void {
    writeFileSync(join(this.directory(session, note.launch), "launch.json"), JSON.stringify(note), { mode: 0o600 });
  }

  /** Whether the starter has read and emptied its file. */
  wasRead(session: SessionId, launch: LaunchId): boolean {
    return statSync(join(this.directory(session, launch), "run"), { throwIfNoEntry: false })?.size === 0;
  }

  forgetRun(session: SessionId, launch: LaunchId): void {
    rmSync(join(this.directory(session, launch), "run"), { force: true });
  }

  /** For a launch that was never started. */
  remove(session: SessionId, launch: LaunchId): void {
    const cgroup = this.note(session, launch)?.cgroup ?? null;
    if (cgroup !== null) forgetCgroup(cgroup);
    rmSync(this.directory(session, launch), { recursive: true, force: true });
  }

  has(session: SessionId): boolean {
    return existsSync(`${this.#root}/${safeName(session)}`);
  }

  /** Those of the sessions that have files. */
  among(sessions: readonly SessionId[]): ReadonlySet<SessionId> {
    const names = new Set(attempt(() => readdirSync(this.#root), []));
    return new Set(sessions.filter((session) => names.has(safeName(session))));
  }

  /** By the names of their directories, which are the ids for all but the oddest. */
  sessions(): SessionId[] {
    return readdirSync(this.#root).map(asSessionId);
  }

  /** Only after everything of this session is proven gone. */
  removeAll(session: SessionId): void {
    for (const { cgroup = null } of this.notes(session)) if (cgroup !== null) forgetCgroup(cgroup);
    rmSync(join(this.#root, safeName(session)), { recursive: true, force: true });
  }

  #names(session: SessionId): string[] {
    try {
      return readdirSync(join(this.#root, safeName(session)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }
}

function readNote(directory: string): LaunchNote | null {
  try {
    const note = JSON.parse(readFileSync(join(directory, "launch.json"), "utf8")) as LaunchNote;
    return { ...note, launch: asLaunchId(note.launch) };
  } catch {
    // Missing or cut off: nothing was started, because it is written before the tmux session is created.
    return null;
  }
}
