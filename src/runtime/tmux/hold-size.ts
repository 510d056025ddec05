/**
 * Keeps a window's size while only watchers look at it. tmux passes over a client with `ignore-size` only while there is
 * one without: alone, the watcher would size the window. A client in control mode that names no size is such a one, and
 * tmux asks it for none.
 */
import { spawn } from "node:child_process";
import { bounded } from "../../base/deadline.ts";
import { startChild } from "../../base/start-child.ts";
import type { Tmux } from "./tmux.ts";

const attachDeadlineMs = 10_000;
const leaveMs = 1_000;

/** Resolves once it is attached, with what ends it. It exits with the session and with this process. */
export async function holdSize(tmux: Tmux, target: string): Promise<() => void> {
  const { file, args, env } = tmux.clientCommand(["-C", "attach-session", "-f", "no-output", "-t", target]);
  const child = await startChild(() => spawn(file, args, { env, cwd: "/", stdio: ["pipe", "pipe", "ignore"] }));
  child.stdin.on("error", () => undefined);
  const release = (): void => {
    // Without input it leaves; a stopped server would keep it.
    child.stdin.end();
    const kill = setTimeout(() => child.kill("SIGKILL"), leaveMs);
    kill.unref();
    child.once("exit", () => clearTimeout(kill));
  };
  const attached = new Promise<void>((resolve, reject) => {
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      if (output.length < 10_000) output += text;
      if (output.includes("%session-changed")) resolve();
    });
    child.once("exit", () => reject(new Error("tmux did not attach")));
  });
  try {
    if ((await bounded(attached, attachDeadlineMs)) === "too-late") throw new Error("tmux did not attach");
    return release;
  } catch (error) {
    release();
    throw error;
  }
}
