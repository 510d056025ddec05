/**
 * The files of chat launches: `<workers>/<session>/<launch>/…` and the session's record. Each launch has a new directory,
 * which is never reused: `in` would be fed twice, and an incomplete last line of `out` would swallow the next line.
 */
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  statSync,
} from "node:fs";
import { constants as system } from "node:os";
import { basename, dirname, join } from "node:path";
import { attempt } from "../base/attempt.ts";
import { makePrivateDirectory, readJson, syncDirectory, writeDurable } from "../base/durable-file.ts";
import type { ExitStatus, LaunchId, SessionId } from "../contract/ids.ts";
import { asLaunchId } from "../contract/ids.ts";
import { keptErrors, recordFile, type AgentRecord } from "../contract/worker-record.ts";

/** Names of directories that are being removed. */
const gonePrefix = ".gone-";
/** How much of an agent's last stderr is kept for `acp logs`. */
const keptErrorBytes = 256 * 1024;
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

export class AgentFiles {
  readonly #workers: string;
  readonly #home: { path: string; mark: string | null };

  constructor(workers: string) {
    this.#workers = workers;
    makePrivateDirectory(workers);
    const path = dirname(workers);
    this.#home = { path, mark: directoryMark(path) };
  }

  /**
   * Only a definite "no such file" in the same home counts. A disk that fails or refuses proves nothing, and below an
   * unmounted home there is no file either, although all of them still exist.
   */
  isRemoved(path: string): boolean {
    const { path: home, mark } = this.#home;
    if (mark === null || directoryMark(home) !== mark) return false;
    try {
      statSync(path);
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ENOENT";
    }
  }

  /** Belongs to no session, so it always exists. */
  get directoryOfAll(): string {
    return this.#workers;
  }

  // Not by join(): it is slow, and a start builds 500 of each.
  sessionDirectory(session: SessionId): string {
    return `${this.#workers}/${session}`;
  }

  directory(session: SessionId, launch: LaunchId): string {
    return `${this.#workers}/${session}/${launch}`;
  }

  recordPath(session: SessionId): string {
    return `${this.#workers}/${session}/${recordFile}`;
  }

  /** Throws if it exists: nothing is ever reused. */
  make(session: SessionId, launch: LaunchId): string {
    makePrivateDirectory(this.sessionDirectory(session));
    const directory = this.directory(session, launch);
    mkdirSync(directory, { mode: 0o700 });
    for (const name of ["in", "out", "err"]) closeSync(openSync(join(directory, name), newFile, 0o600));
    syncDirectory(directory);
    syncDirectory(this.sessionDirectory(session));
    return directory;
  }

  has(session: SessionId, launch: LaunchId): boolean {
    return existsSync(this.directory(session, launch));
  }

  /** The record is removed last. */
  mayHaveLeft(session: SessionId): boolean {
    return existsSync(this.recordPath(session));
  }

  /** Those of the sessions that may have left something. */
  leftovers(sessions: readonly SessionId[]): ReadonlySet<SessionId> {
    const names = new Set(attempt(() => readdirSync(this.#workers), []));
    return new Set(sessions.filter((session) => names.has(session) && this.mayHaveLeft(session)));
  }

  launches(session: SessionId): LaunchId[] {
    return attempt(() => readdirSync(this.sessionDirectory(session), { withFileTypes: true }), [])
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
      .map((entry) => asLaunchId(entry.name));
  }

  writeRecord(record: AgentRecord): void {
    makePrivateDirectory(this.sessionDirectory(record.session));
    writeDurable(this.recordPath(record.session), `${JSON.stringify(record)}\n`);
  }

  /** Null if it is missing or damaged: then the store's copy counts. */
  readRecord(session: SessionId): AgentRecord | null {
    const read = readJson(this.recordPath(session));
    return read.is === "known" && isRecord(read.value) ? read.value : null;
  }

  /** Renamed first: a half removed directory must not look like a launch. Keeps the last stderr. */
  remove(session: SessionId, launch: LaunchId): void {
    const directory = this.directory(session, launch);
    if (existsSync(directory)) {
      this.#keepErrors(session, directory);
      const gone = join(dirname(directory), `${gonePrefix}${basename(directory)}`);
      rmSync(gone, { recursive: true, force: true });
      renameSync(directory, gone);
      rmSync(gone, { recursive: true, force: true });
    }
  }

  removeRecord(session: SessionId): void {
    const directory = this.sessionDirectory(session);
    const names = attempt(() => readdirSync(directory), []);
    for (const name of names.filter((one) => one.startsWith("."))) {
      rmSync(join(directory, name), { recursive: true, force: true });
    }
    rmSync(this.recordPath(session), { force: true });
    // Fails if the last stderr is stored there.
    attempt(() => rmdirSync(directory), null);
  }

  /** Everything of a session that is deleted permanently. */
  removeAll(session: SessionId): void {
    rmSync(this.sessionDirectory(session), { recursive: true, force: true });
  }

  errorLines(session: SessionId, launch: LaunchId | null, lines: number): string[] {
    const files = [
      ...(launch === null ? [] : [join(this.directory(session, launch), "err")]),
      join(this.sessionDirectory(session), keptErrors),
    ];
    const text = files.map((file) => readTail(file, keptErrorBytes)).find((found) => found !== "") ?? "";
    const all = text.split("\n").map((line) => line.trimEnd());
    while (all.length > 0 && all.at(-1) === "") all.pop();
    return all.slice(-lines);
  }

  #keepErrors(session: SessionId, directory: string): void {
    const tail = readTail(join(directory, "err"), keptErrorBytes);
    if (tail !== "") writeDurable(join(this.sessionDirectory(session), keptErrors), tail);
  }
}

/** The status that the keeper recorded; sh reports a signal only as 128 + n. */
export function readExit(directory: string): ExitStatus | null {
  const text = readText(join(directory, "exit")).trim();
  if (!/^\d+$/.test(text)) return null;
  const status = Number(text);
  if (status <= 128) return { code: status, signal: null };
  return { code: status, signal: signalName(status - 128) };
}

export interface Pids {
  keeper: number | null;
  feeder: number | null;
  watcher: number | null;
  agent: number | null;
}

/** A file of numbers is complete when it ends with a newline. */
export function readPids(directory: string): Pids {
  const completeLine = (name: string): string => /^(.*)\n$/.exec(readText(join(directory, name)))?.[1] ?? "";
  // The keeper writes this file last: once it exists, the others do.
  const agent = toPid(completeLine("agent.pid"));
  const [keeper = null, feeder = null, watcher = null] = completeLine("pids").split(/\s+/).map(toPid);
  return { keeper, feeder, watcher, agent };
}

/** Null if the file is missing or cannot be read. */
export function fileSize(path: string): number | null {
  return attempt(() => statSync(path, { throwIfNoEntry: false })?.size, null) ?? null;
}

/** Identifies the directory at a path; null if unknown. */
function directoryMark(path: string): string | null {
  const found = attempt(() => statSync(path), null);
  return found && `${found.dev}:${found.ino}`;
}

function signalName(number: number): string | null {
  return Object.entries(system.signals).find(([, value]) => value === number)?.[0] ?? null;
}

function toPid(text: string): number | null {
  const pid = Number(text);
  return Number.isInteger(pid) && pid > 1 ? pid : null;
}

function readText(path: string): string {
  return attempt(() => readFileSync(path, "utf8"), "");
}

function readTail(path: string, bytes: number): string {
  let file: number | undefined;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW);
    const size = statSync(path).size;
    const from = Math.max(0, size - bytes);
    const buffer = Buffer.alloc(size - from);
    const read = readSync(file, buffer, 0, buffer.length, from);
    return buffer.toString("utf8", 0, read);
  } catch {
    return "";
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function isRecord(value: unknown): value is AgentRecord {
  return typeof value === "object" && value !== null && (value as AgentRecord).version === 1;
}
