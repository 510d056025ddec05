/**
 * The directory of one launch: `<launches>/<session>/<launch>/`, 0700. Holds the agent's hook files, the lines that
 * hooks write, what was decided for this launch (conversation id, prompt given), and until the agent runs its argv and
 * environment. Nothing in it is used by a later launch.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { forgetCgroup } from "../base/cgroup.ts";
import type { Identity } from "../base/pid.ts";
import type { TerminalAgent } from "../ports/agents.ts";
import { asLaunchId, asSessionId } from "../contract/ids.ts";
import type { LaunchId, SessionId } from "../contract/ids.ts";
import { safeName } from "./names.ts";
import { runFileText } from "./starter.ts";
import type { RunFile } from "./starter.ts";

/** What a later daemon must know of a launch that an earlier one made. */
export interface LaunchNote {
  launch: LaunchId;
  /** The conversation id we chose or resumed. */
  agentSessionId: string | null;
  promptTaken: boolean;
  /** Directory of its cgroup; missing where it has none. */
  cgroup?: string | null;
  /** Whether it took up a conversation. */
  resumed?: boolean;
  /** Only in the note of a contained launch: the first process of its pid namespace, once it is known. */
  contained?: { first: Identity | null };
}

export class LaunchFiles {
  readonly #root: string;
  #sessions: Set<string> | null = null;

  constructor(root: string) {
    this.#root = root;
    mkdirSync(root, { recursive: true, mode: 0o700 });
  }

  /** No launch has left anything, so no tmux server can have anything of ours. */
  isEmpty(): boolean {
    return readdirSync(this.#root).length === 0;
  }

  directory(session: SessionId, launch: LaunchId): string {
    // Put together by hand: a start asks for hundreds of them, and node:path takes them apart again each time.
    return `${this.#root}/${safeName(session)}/${safeName(launch)}`;
  }

  /** Every launch of this session that left a directory. */
  notes(session: SessionId): LaunchNote[] {
    return this.#names(session).flatMap((name) => readNote(join(this.#root, safeName(session), name)) ?? []);
  }

  note(session: SessionId, launch: LaunchId): LaunchNote | null {
    return readNote(this.directory(session, launch));
  }

  /** What the agent reads of a launch, before the rest is written: a contained one has these files mounted. */
  writeHooks(session: SessionId, launch: LaunchId, hooks: TerminalAgent["files"]): void {
    const directory = this.directory(session, launch);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#sessions = null;
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
    this.#sessions = null;
    writeFileSync(join(directory, "launch.json"), JSON.stringify(note), { mode: 0o600 });
    writeFileSync(join(directory, "run"), runFileText(run), { mode: 0o600 });
  }

  /** In place: a contained launch has this very file mounted, so that nobody inside can write it. */
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

  /** Of a launch that was never started. */
  remove(session: SessionId, launch: LaunchId): void {
    const cgroup = this.note(session, launch)?.cgroup ?? null;
    if (cgroup !== null) forgetCgroup(cgroup);
    rmSync(this.directory(session, launch), { recursive: true, force: true });
  }

  /** Asked of every session at a start, so the directory is listed once; nobody but this daemon adds to it. */
  has(session: SessionId): boolean {
    this.#sessions ??= new Set(readdirSync(this.#root));
    return this.#sessions.has(safeName(session));
  }

  /** By the names of their directories, which are the ids for all but the oddest. */
  sessions(): SessionId[] {
    return readdirSync(this.#root).map(asSessionId);
  }

  /** Only after everything of this session is proven gone. */
  removeAll(session: SessionId): void {
    for (const { cgroup = null } of this.notes(session)) if (cgroup !== null) forgetCgroup(cgroup);
    this.#sessions?.delete(safeName(session));
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
    // Missing or cut off: nothing was started from it, because it is written before the session is made.
    return null;
  }
}
