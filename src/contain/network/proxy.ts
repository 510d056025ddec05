/**
 * The network proxy of a home: one process for all contained sessions with an allow list, started by the daemon and
 * independent of it, like a keeper. Everything it needs is in its working directory; a restarted proxy serves the same
 * sessions. It exits when no bridge needs it anymore, or when another proxy has replaced it.
 */
import { mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { writeAtomically } from "../../base/durable-file.ts";
import { identify } from "../../base/pid.ts";
import { readAllow, type AllowEntry } from "./allow-list.ts";
import { BlockedRecord } from "./blocked.ts";
import { SessionProxy } from "./session-proxy.ts";
import { blockedFile, proxySocketFolder, policyFile, proxyFile, readPolicy, readProxy, socketName } from "./files.ts";

/** How often it checks what no signal reports: lost sockets, removed sessions, whether it may exit. */
const tickMs = 5_000;
/** After its start: the daemon connects within this time. */
const firstLingerMs = 30_000;
const mostLingerMs = 120_000;
/** After the daemon stopped. Not less: bridges that an older proxy released are reconnecting. */
const leavingLingerMs = 500;

interface Served {
  server: Server;
  proxy: SessionProxy;
  blocked: BlockedRecord;
  allow: readonly AllowEntry[];
  stamp: string;
}

class Proxy {
  readonly #program: string;
  readonly #served = new Map<string, Served>();
  #scanned: Promise<void> = Promise.resolve();
  #holds = 0;
  #wasHeld = false;
  #leaving = false;
  #stayUntil = performance.now() + firstLingerMs;
  #leaveTimer: NodeJS.Timeout | undefined;

  constructor(program: string) {
    this.#program = program;
  }

  /** Relative paths throughout: a socket's path is limited to 107 bytes, and a home's may be longer. */
  run(): void {
    // Before the record exists: the daemon sends signals from then on.
    process.on("SIGHUP", () => {
      this.#leaving = false;
      this.#scanSoon();
    });
    // The daemon is stopping: nothing is launched until the next one sends SIGHUP.
    process.on("SIGTERM", () => {
      this.#leaving = true;
      this.#stayUntil = performance.now() + leavingLingerMs;
      this.#maybeLeave();
    });
    for (const signal of ["SIGINT", "SIGQUIT", "SIGPIPE"] as const) process.on(signal, () => undefined);
    const self = identify(process.pid);
    if (self === null) throw new Error("cannot identify this process");
    writeAtomically(
      proxyFile("."),
      `${JSON.stringify({ ...self, program: this.#program, directory: process.cwd() })}\n`,
    );
    this.#scanSoon();
    setInterval(() => this.#scanSoon(), tickMs);
  }

  /** One at a time: two would bind the same socket. */
  #scanSoon(): void {
    this.#scanned = this.#scanned.then(() =>
      this.#scan().catch((error: unknown) => console.error(new Date().toISOString(), error)),
    );
  }

  async #scan(): Promise<void> {
    // The home was removed, with every session's files.
    if (statSync(".", { throwIfNoEntry: false })?.nlink === 0) this.#exit();
    if ((readProxy(".")?.pid ?? process.pid) !== process.pid) return this.#yield();
    const found = new Set<string>();
    for (const entry of readdirSync(".", { withFileTypes: true })) {
      if (!entry.isDirectory() || readPolicy(entry.name) === null) continue;
      found.add(entry.name);
      try {
        await this.#serve(entry.name);
      } catch (error) {
        console.error(new Date().toISOString(), "cannot serve", entry.name, error);
      }
    }
    for (const [name, served] of this.#served) {
      if (found.has(name)) continue;
      this.#served.delete(name);
      served.server.close();
      served.proxy.close();
    }
    this.#maybeLeave();
  }

  /** Once per session; again if its socket is lost. */
  async #serve(name: string): Promise<void> {
    const socket = join(proxySocketFolder(name), socketName);
    const known = this.#served.get(name);
    if (known !== undefined && statSync(socket, { throwIfNoEntry: false }) !== undefined) return;
    const served = known ?? this.#open(name);
    this.#served.set(name, served);
    known?.server.close();
    served.server = createServer({ allowHalfOpen: true }, (client) => served.proxy.serve(client));
    // Not `recursive`: in a removed folder Node would retry forever.
    if (statSync(proxySocketFolder(name), { throwIfNoEntry: false }) === undefined)
      mkdirSync(proxySocketFolder(name), { mode: 0o700 });
    // Renamed into position: a socket always exists, and closing this server does not remove a later one.
    const own = join(proxySocketFolder(name), `${process.pid}.sock`);
    await new Promise<void>((resolve, reject) => {
      served.server.once("error", reject).listen(own, resolve);
    });
    renameSync(own, socket);
  }

  #open(name: string): Served {
    const blocked = new BlockedRecord(blockedFile(name));
    const allow = (): readonly AllowEntry[] => {
      // The daemon writes it for each launch; a stat per connection is cheap.
      const { mtimeMs, ino } = statSync(policyFile(name), { throwIfNoEntry: false }) ?? { mtimeMs: 0, ino: 0 };
      const stamp = `${mtimeMs} ${ino}`;
      if (stamp !== served.stamp) {
        served.allow = readAllow(readPolicy(name)?.allow ?? []);
        served.stamp = stamp;
      }
      return served.allow;
    };
    const proxy = new SessionProxy({ allow, blocked, onHold: (lingerMs) => this.#hold(lingerMs) });
    const served: Served = { server: createServer(), proxy, blocked, allow: [], stamp: "" };
    return served;
  }

  #hold(lingerMs: number): () => void {
    this.#holds += 1;
    if (!this.#wasHeld) this.#stayUntil = 0;
    this.#wasHeld = true;
    return () => {
      this.#holds -= 1;
      const until = performance.now() + Math.min(lingerMs, this.#leaving ? leavingLingerMs : mostLingerMs);
      this.#stayUntil = Math.max(this.#stayUntil, until);
      this.#maybeLeave();
    };
  }

  #maybeLeave(): void {
    clearTimeout(this.#leaveTimer);
    if (this.#holds > 0) return;
    const left = this.#stayUntil - performance.now();
    if (left <= 0) return this.#exit();
    this.#leaveTimer = setTimeout(() => this.#maybeLeave(), left);
  }

  /** Another proxy has bound every socket: released bridges reconnect to it. Open connections continue. */
  #yield(): void {
    for (const { server, proxy } of this.#served.values()) {
      server.close();
      proxy.release();
    }
    if ([...this.#served.values()].every(({ proxy }) => proxy.connections === 0)) this.#exit();
  }

  #exit(): void {
    for (const { blocked } of this.#served.values()) blocked.write();
    // Without closing: only refusing sockets remain, and their files are removed with the session.
    process.exit(0);
  }
}

process.title = "holdfast-network";
// One connection's failure must not cut off every session.
process.on("uncaughtException", (error) => console.error(new Date().toISOString(), error));
new Proxy(process.argv[2] ?? "").run();
