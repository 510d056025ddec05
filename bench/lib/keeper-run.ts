/** One keeper as the daemon starts it, around our own command. Stopped by the pids in its file. */
import { spawn } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  openSync,
  closeSync,
  readFileSync,
  writeSync,
  constants,
} from "node:fs";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { childrenOf, privateKib } from "./proc.ts";

export interface KeeperRun extends AsyncDisposable {
  /** Private KiB of keeper, feeder and watcher; and of the `sleep` that the watcher waits for. */
  memory(): { three: number; sleep: number };
  /** Appends to `in`, rings, and waits until the feeder has read it. */
  feed(text: string): Promise<void>;
}

const startedMs = 15_000;

export async function startKeeper(parent: string, launch: string, command: string[]): Promise<KeeperRun> {
  const directory = join(parent, launch);
  mkdirSync(directory, { mode: 0o700 });
  for (const name of ["in", "out", "err"]) writeFileSync(join(directory, name), "", { mode: 0o600 });
  const record = join(parent, `${launch}.json`);
  writeFileSync(record, JSON.stringify({ launch }));
  const child = spawn("sh", [join(parent, "keeper.sh"), directory, record, launch, "--", ...command], {
    env: { PATH: process.env["PATH"] ?? "", HOLDFAST_LAUNCH: launch },
    stdio: "ignore",
    detached: true,
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const agent = join(directory, "agent.pid");
  await until(() => existsSync(agent) && readFileSync(agent, "utf8").endsWith("\n"));
  const [keeper = 0, feeder = 0, watcher = 0] = readFileSync(join(directory, "pids"), "utf8").split(/\s/).map(Number);
  await until(() => childrenOf(watcher).length === 1 && place(feeder) !== null);
  let size = 0;
  return {
    memory: () => ({
      three: privateKib(keeper) + privateKib(feeder) + privateKib(watcher),
      sleep: childrenOf(watcher).reduce((sum, pid) => sum + privateKib(pid), 0),
    }),
    async feed(text) {
      appendFileSync(join(directory, "in"), text);
      size += text.length;
      const bell = openSync(join(directory, "bell"), constants.O_WRONLY | constants.O_NONBLOCK);
      writeSync(bell, "r\n");
      closeSync(bell);
      // The reading `cat` shares the feeder's offset in the file; it is done once the feeder has waited for it.
      await until(() => place(feeder) === size && childrenOf(feeder).length === 0);
    },
    async [Symbol.asyncDispose]() {
      process.kill(Number(readFileSync(agent, "utf8")), "SIGTERM");
      await ended;
    },
  };
}

/** The feeder's offset in `in`; null before it opened the file. */
function place(feeder: number): number | null {
  try {
    return Number(/^pos:\s+(\d+)/.exec(readFileSync(`/proc/${feeder}/fdinfo/4`, "utf8"))?.[1] ?? NaN);
  } catch {
    return null;
  }
}

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + startedMs;
  while (!holds()) {
    if (performance.now() > end) throw new Error("the keeper did not come to where it should be");
    await delay(1);
  }
}
