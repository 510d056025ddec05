/** Whether a program has taken its terminal over. Until then the kernel echoes what is typed, which proves nothing. */
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { listProcesses } from "../base/pid.ts";

const deadlineMs = 2000;

/** Null where it cannot be asked. One process, so it is asked last: where everything else shows that the agent is ready. */
export async function isRaw(tty: string): Promise<boolean | null> {
  // Loaded when a first prompt is typed: a starting daemon has no need of it.
  const { run } = await import("../base/run.ts");
  const ran = await run(["stty", process.platform === "darwin" ? "-f" : "-F", tty, "-a"], { deadlineMs });
  if (ran?.code !== 0) return null;
  return /(^|\s)-icanon\b/.test(ran.stdout) && /(^|\s)-echo\b/.test(ran.stdout);
}

/** The numbers of `read` on the machines that Node runs on. */
const readCalls: Partial<Record<NodeJS.Architecture, string>> = { x64: "0", arm64: "63" };
/** Waits of which the kernel does not show what they are for: `select` and `poll`. */
const opaqueWaits = /poll_schedule|do_poll|do_sys_poll|do_select|core_sys_select/;

/** Whether a program in the foreground of the pane waits for input from its terminal. Null where that cannot be seen. */
export function readsTerminal({ pid, tty }: { pid: number; tty: string }): boolean | null {
  if (process.platform !== "linux") return null;
  const group = textOf(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, "")
    .split(" ")[5];
  const members = listProcesses().filter((one) => String(one.group) === group);
  const found = members.flatMap((one) =>
    namesIn(`/proc/${one.pid}/task`).map((thread) => waitsFor(`/proc/${one.pid}/task/${thread}`, tty)),
  );
  if (found.includes(true)) return true;
  return found.length === 0 || found.includes(null) ? null : false;
}

function waitsFor(task: string, tty: string): boolean | null {
  const [call, argument] = textOf(`${task}/syscall`)?.split(" ") ?? [];
  const wait = textOf(`${task}/wchan`) ?? "";
  const isTty = (fd: string | number): boolean => linkOf(`${task}/fd/${fd}`) === tty;
  if (/epoll|ep_poll/.test(wait)) {
    const watched = namesIn(`${task}/fdinfo`).flatMap((fd) => [
      ...(textOf(`${task}/fdinfo/${fd}`) ?? "").matchAll(/^tfd:\s*(\d+)/gm),
    ]);
    return watched.some((match) => isTty(match[1]!));
  }
  if (opaqueWaits.test(wait)) return null;
  const isRead = call === readCalls[process.arch];
  if (call !== undefined && readCalls[process.arch] !== undefined) return isRead && isTty(Number(argument));
  if (wait === "" || wait === "0") return null;
  return /^(n_tty_read|tty_read|wait_woken)$/.test(wait);
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return null;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function linkOf(file: string): string | null {
  try {
    return readlinkSync(file);
  } catch {
    return null;
  }
}
