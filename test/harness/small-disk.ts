/**
 * A file system for one home that can be filled and emptied instantly. Only in a private mount namespace:
 * a test starts the program that uses it with `unshare -rm`; the mount disappears with its last process.
 */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, statfsSync } from "node:fs";
import { promisify } from "node:util";
import type { Home } from "./home.ts";

/** Containers and some systems forbid it. */
export function canMount(): boolean {
  return spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" }).status === 0;
}

/** Starts a program in its own mount namespace and returns its output. */
export async function runOnSmallDisk(program: string, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)("unshare", ["-rm", process.execPath, program, ...args]);
  return JSON.parse(stdout);
}

/** The body of such a program: prints the result of `run` and always leaves nothing running on its disk. */
export async function tellFrom(disk: SmallDisk, home: Home, run: () => Promise<object>): Promise<void> {
  try {
    console.log(JSON.stringify(await run()));
  } catch (error) {
    console.error(error, home.logTail());
    process.exitCode = 1;
  } finally {
    disk.free();
    await home.ok(["stop", "--halt-sessions", "--yes"]);
    disk[Symbol.dispose]();
  }
}

/** A spawn requires 200 MB free; nothing of it is used until something is written. */
const roomyBytes = 512 * 1024 * 1024;

export class SmallDisk {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    execFileSync("mount", ["-t", "tmpfs", "-o", `mode=0700,size=${roomyBytes}`, "none", path]);
  }

  /** Leaves no free page; reserved space stays with its owner. */
  fill(): void {
    // Another process may write between check and change: then the size is refused, or a page is left.
    for (let tries = 0; this.freeBytes() > 0 && tries < 50; tries++) {
      const { blocks, bfree, bsize } = statfsSync(this.#path);
      this.#resize((blocks - bfree) * bsize);
    }
    if (this.freeBytes() > 0) throw new Error("the disk could not be filled");
  }

  /** Leaves about this much. */
  leave(bytes: number): void {
    const { blocks, bfree, bsize } = statfsSync(this.#path);
    this.#resize((blocks - bfree) * bsize + bytes);
  }

  makeReadOnly(): void {
    execFileSync("mount", ["-o", "remount,ro", this.#path]);
  }

  /** With free space, and writable. */
  free(): void {
    this.#resize(roomyBytes);
  }

  freeBytes(): number {
    const { bfree, bsize } = statfsSync(this.#path);
    return bfree * bsize;
  }

  /** With nothing running on it: otherwise the home could not be removed. */
  [Symbol.dispose](): void {
    execFileSync("umount", ["-l", this.#path]);
  }

  #resize(bytes: number): void {
    spawnSync("mount", ["-o", `remount,rw,size=${bytes}`, this.#path], { stdio: "ignore" });
  }
}

/** Whether a disk can be created that fails in use: only root can, with a loop device. */
export function canFail(): boolean {
  if (process.getuid?.() !== 0) return false;
  return (
    ["losetup", "mkfs.ext4"].every((program) => spawnSync(program, ["--version"]).error === undefined) && canLoop()
  );
}

function canLoop(): boolean {
  return spawnSync("unshare", ["-m", "losetup", "--find"], { stdio: "ignore" }).status === 0;
}

/** Starts a program in its own mount namespace, as root, where a file system in a file can be mounted. */
export async function runOnFailingDisk(program: string, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)("unshare", ["-m", process.execPath, program, ...args]);
  return JSON.parse(stdout);
}

/** A file system that refuses every write from a given moment on, with open files, like after a disk error. */
export class FailingDisk {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    const image = `${path}.img`;
    execFileSync("truncate", ["-s", String(roomyBytes), image]);
    execFileSync("mkfs.ext4", ["-q", "-F", image]);
    execFileSync("mount", ["-o", "loop", image, path]);
  }

  fail(): void {
    // The kernel reports an error for these options, but applies them.
    spawnSync("mount", ["-o", "remount,abort", this.#path], { stdio: "ignore" });
  }

  [Symbol.dispose](): void {
    execFileSync("umount", ["-l", this.#path]);
  }
}
