/**
 * The daemon's side of the network proxy: prepares a session's list and socket before its agent is launched, finds the
 * proxy of an earlier daemon, starts a new one if that exited or is older, and reads what was blocked.
 */
import { spawn } from "node:child_process";
import { closeSync, constants, openSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { digestOf } from "../../base/digest.ts";
import { makePrivateDirectory, writeAtomically } from "../../base/durable-file.ts";
import { isAlive, signalIdentity } from "../../base/pid.ts";
import { startChild } from "../../base/run.ts";
import type { ContainedNetwork } from "../../ports/network.ts";
import { HoldfastError } from "../../contract/errors.ts";
import type { SessionId } from "../../contract/ids.ts";
import { parseAllow } from "./allow-list.ts";
import { readBlocked, type BlockedFile } from "./blocked.ts";
import { holdRequest } from "./request.ts";
import { allowListInside, leanNode, type InsideNetwork } from "./inside.ts";
import {
  blockedFile,
  proxySocketFolder,
  ownProxy,
  policyFile,
  reportedFile,
  sessionFolder,
  socketName,
} from "./files.ts";

export interface NetworkOptions {
  /** The home's folder for the network. */
  directory: string;
  node: string;
  /** The built programs. */
  proxy: string;
  bridge: string;
  env: NodeJS.ProcessEnv;
  /** Moves the proxy out of a unit that kills all of its processes when stopped. */
  launchPrefix?: readonly string[];
  /** How long the proxy waits for an agent that is about to be launched. */
  lingerMs?: number;
}

/** A proxy responds within this, even on a busy machine. */
const answerMs = 20_000;
const pollMs = 10;
const launchLingerMs = 60_000;
const leaveMs = 3_000;
/** Per session: each is a line in the transcript. */
const mostReported = 20;
const noNews = { blocked: [], full: false, reported: () => undefined };
const mostLogBytes = 1_000_000;

export class Network implements ContainedNetwork {
  readonly #options: NetworkOptions;
  /** The last reported state of the file, by session. */
  readonly #reported = new Map<SessionId, string>();
  #program: string | undefined;
  #starting: Promise<void> | undefined;

  constructor(options: NetworkOptions) {
    this.#options = options;
  }

  /** Repeatable. Throws a HoldfastError if the proxy does not respond: the agent must not be launched then. */
  async open(session: SessionId, allow: readonly string[]): Promise<InsideNetwork> {
    assertValid(allow);
    const folder = sessionFolder(this.#options.directory, session);
    makePrivateDirectory(proxySocketFolder(folder));
    writeAtomically(policyFile(folder), `${JSON.stringify({ allow })}\n`);
    const until = performance.now() + answerMs;
    let last: string;
    try {
      for (;;) {
        await this.ensure();
        const answer = await hold(proxySocketFolder(folder), this.#options.lingerMs ?? launchLingerMs);
        if (answer === null) return allowListInside(proxySocketFolder(folder), allow, this.#options);
        last = answer;
        if (performance.now() > until) break;
        await delay(pollMs);
      }
    } catch (error) {
      last = (error as Error).message;
    }
    throw new HoldfastError("launch-failed", `The network proxy of this session did not start: ${last}.`, {
      hint: `Its log: ${join(this.#options.directory, logName)}`,
    });
  }

  /** Starts the proxy unless one with this program is running, which rereads its folder. */
  async ensure(): Promise<void> {
    const record = ownProxy(this.#options.directory);
    if (record !== null && record.program === this.#digest() && signalIdentity(record, "SIGHUP")) return;
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined));
    await this.#starting;
  }

  /** What was blocked for a session so far. */
  blocked(session: SessionId): BlockedFile {
    return readBlocked(blockedFile(sessionFolder(this.#options.directory, session)));
  }

  /** The number of reported entries is stored with them: the next daemon does not repeat any. */
  news(session: SessionId): ReturnType<ContainedNetwork["news"]> {
    const folder = sessionFolder(this.#options.directory, session);
    const stamp = String(statSync(blockedFile(folder), { throwIfNoEntry: false })?.mtimeMs);
    if (stamp === "undefined" || this.#reported.get(session) === stamp) return noNews;
    const { blocked, more } = this.blocked(session);
    const before = countIn(reportedFile(folder));
    const shown = blocked.slice(before, mostReported);
    const full = blocked.length + more > mostReported && before < mostReported;
    const reported = (): void => {
      writeAtomically(reportedFile(folder), `${before + shown.length}\n`);
      this.#reported.set(session, stamp);
    };
    if (shown.length === 0) this.#reported.set(session, stamp);
    return { blocked: shown, full: full && before + shown.length === mostReported, reported };
  }

  remove(session: SessionId): void {
    this.#reported.delete(session);
    rmSync(sessionFolder(this.#options.directory, session), { recursive: true, force: true });
    const record = ownProxy(this.#options.directory);
    if (record !== null) signalIdentity(record, "SIGHUP");
  }

  /** The daemon stops. With `idle`, no contained session is running: the proxy has exited when this returns. */
  async close({ idle }: { idle: boolean }): Promise<void> {
    const record = ownProxy(this.#options.directory);
    if (record === null || !signalIdentity(record, "SIGTERM")) return;
    const until = performance.now() + (idle ? leaveMs : 0);
    while (isAlive(record) && performance.now() < until) await delay(pollMs);
  }

  #digest(): string {
    this.#program ??= digestOf(readFileSync(this.#options.proxy, "utf8"));
    return this.#program;
  }

  async #start(): Promise<void> {
    const { directory, node, proxy, env, launchPrefix = [] } = this.#options;
    makePrivateDirectory(directory);
    const before = ownProxy(directory);
    const log = openLog(join(directory, logName));
    let ended: string | null = null;
    try {
      const command = [...launchPrefix, node, ...leanNode, proxy, this.#digest()];
      const child = await startChild(() =>
        spawn(command[0]!, command.slice(1), {
          cwd: directory,
          env: proxyOwn(env),
          stdio: ["ignore", log, log],
          detached: true,
        }),
      );
      child.on("error", () => undefined);
      child.once("exit", (code, signal) => (ended = `it exited with ${signal ?? code}`));
      child.unref();
    } finally {
      closeSync(log);
    }
    const until = performance.now() + answerMs;
    for (;;) {
      const now = ownProxy(directory);
      const isNew = now !== null && (now.pid !== before?.pid || now.startTime !== before.startTime);
      if (isNew && isAlive(now)) break;
      if (ended !== null) throw new Error(ended);
      if (performance.now() > until) throw new Error("it did not start in time");
      await delay(pollMs);
    }
    // An older one notices that it was replaced, and finishes its connections.
    if (before !== null) signalIdentity(before, "SIGHUP");
  }
}

const logName = "proxy.log";

/** An invalid entry would silently allow nothing. */
function assertValid(allow: readonly string[]): void {
  for (const text of allow) {
    const entry = parseAllow(text);
    if (!("problem" in entry)) continue;
    throw new HoldfastError("invalid", `The network allow list is invalid: ${entry.problem}`, {
      hint: "Fix `contain: {network: {allow}}`, or start the session with another --network.",
    });
  }
}

function countIn(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, "utf8"), 10) || 0;
  } catch {
    return 0;
  }
}

function openLog(path: string): number {
  // It contains only failures; those of a broken machine could fill a disk.
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > mostLogBytes) truncateSync(path);
  return openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT, 0o600);
}

/** Without the user's tokens and keys: it talks to agents. */
function proxyOwn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept =
    /^(PATH|LANG|LC_.*|TZ|LOCALDOMAIN|RES_OPTIONS|HOLDFAST_HOME|HOLDFAST_TEST_RUN|HOLDFAST_TEST_BOOT_ID|XDG_RUNTIME_DIR|DBUS_SESSION_BUS_ADDRESS)$/;
  return {
    ...Object.fromEntries(Object.entries(env).filter(([name]) => kept.test(name))),
    // Resolving a name takes a thread.
    UV_THREADPOOL_SIZE: "32",
  };
}

/** Null once the proxy serves this socket and stays for a launch; otherwise the reason. */
async function hold(socketFolder: string, lingerMs: number): Promise<string | null> {
  // Through the folder's descriptor: a socket's path is limited to 107 bytes, and a home's may be longer.
  const folder = openSync(socketFolder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await new Promise<string | null>((resolve) => {
      const socket = connect(`/proc/self/fd/${folder}/${socketName}`);
      const settle = (result: string | null): void => {
        resolve(result);
        socket.destroy();
      };
      socket.setTimeout(answerMs, () => settle("no answer"));
      socket.once("error", (error) => settle(error.message));
      socket.once("close", () => settle("it closed the connection"));
      socket.once("data", () => settle(null));
      socket.write(holdRequest(lingerMs));
    });
  } finally {
    closeSync(folder);
  }
}
