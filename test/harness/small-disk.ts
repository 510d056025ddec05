/**
 * A file system of a home's own that can be made full and roomy in an instant. Only in a mount namespace of one's own:
 * what uses it is a program that a test starts with `unshare -rm`; the mount goes with its last process.
 */
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, statfsSync } from "node:fs";
import { promisify } from "node:util";
import type { Home } from "./home.ts";

/** Containers and some systems forbid it. */
export function canMount(): boolean {
  return spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" }).status === 0;
}

/** Starts a program in a mount namespace of its own and gives what it printed. */
export async function runOnSmallDisk(program: string, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)("unshare", ["-rm", process.execPath, program, ...args]);
  return JSON.parse(stdout);
}

/** What such a program does: it prints what `run` finds and, whatever that was, leaves nothing that runs on its disk. */
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

/** A spawn wants 200 MB; nothing of it is used until something is written. */
const roomyBytes = 512 * 1024 * 1024;

export class SmallDisk {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    execFileSync("mount", ["-t", "tmpfs", "-o", `mode=0700,size=${roomyBytes}`, "none", path]);
  }

  /** Leaves not one page; what was reserved before stays its owner's. */
  fill(): void {
    // Somebody may write between the look and the change: then the size is refused, or a page is left.
    for (let tries = 0; this.freeBytes() > 0 && tries < 50; tries++) {
      const { blocks, bfree, bsize } = statfsSync(this.#path);
      this.#resize((blocks - bfree) * bsize);
    }
    if (this.freeBytes() > 0) throw new Error("the disk could not be filled");
  }

  /** Leaves about so much. */
  leave(bytes: number): void {
    const { blocks, bfree, bsize } = statfsSync(this.#path);
    this.#resize((blocks - bfree) * bsize + bytes);
  }

  makeReadOnly(): void {
    execFileSync("mount", ["-o", "remount,ro", this.#path]);
  }

  /** Roomy and writable. */
  free(): void {
    this.#resize(roomyBytes);
  }

  freeBytes(): number {
    const { bfree, bsize } = statfsSync(this.#path);
    return bfree * bsize;
  }

  /** With nothing left on it that runs: else the home could not be removed. */
  [Symbol.dispose](): void {
    execFileSync("umount", ["-l", this.#path]);
  }

  #resize(bytes: number): void {
    spawnSync("mount", ["-o", `remount,rw,size=${bytes}`, this.#path], { stdio: "ignore" });
  }
}

/** Whether a disk can be made that fails in use: only root can, with a loop device. */
export function canFail(): boolean {
  if (process.getuid?.() !== 0) return false;
  return (
    ["losetup", "mkfs.ext4"].every((program) => spawnSync(program, ["--version"]).error === undefined) && canLoop()
  );
}

function canLoop(): boolean {
  return spawnSync("unshare", ["-m", "losetup", "--find"], { stdio: "ignore" }).status === 0;
}

/** Starts a program in a mount namespace of its own, as root: a file system in a file can be mounted there. */
export async function runOnFailingDisk(program: string, ...args: string[]): Promise<unknown> {
  const { stdout } = await promisify(execFile)("unshare", ["-m", process.execPath, program, ...args]);
  return JSON.parse(stdout);
}

/** A file system that refuses every write from one moment on, with files on it open, as after an error of its disk. */
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
    // The kernel refuses the options together with what it does.
    spawnSync("mount", ["-o", "remount,abort", this.#path], { stdio: "ignore" });
  }

  [Symbol.dispose](): void {
    execFileSync("umount", ["-l", this.#path]);
  }
}
