/** The desktop's own notifications, by the program that this system has for it. Arguments only, no shell. */
import { execFile } from "node:child_process";
import type { Channel } from "../../ports/notify.ts";

const deadlineMs = 5_000;

export function desktopChannel(platform: NodeJS.Platform = process.platform): Channel {
  return ({ title, text }) => {
    const [program, ...args] = platform === "darwin" ? appleArgv(title, text) : notifySendArgv(title, text);
    return new Promise((resolve, reject) => {
      execFile(program!, args, { timeout: deadlineMs }, (error) => {
        if (error === null) resolve();
        else reject(new Error(said(error, program!), { cause: error }));
      });
    });
  };
}

/** The body of some desktops is markup. */
function notifySendArgv(title: string, text: string): string[] {
  const plain = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return ["notify-send", "--app-name=Holdfast", "--", title, plain];
}

/** The texts are arguments of the script, never part of it. */
function appleArgv(title: string, text: string): string[] {
  const script = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];
  return ["osascript", ...script.flatMap((line) => ["-e", line]), title, text];
}

function said(error: NodeJS.ErrnoException | (Error & { killed?: boolean }), program: string): string {
  if ("code" in error && error.code === "ENOENT") return `${program} is not installed`;
  if ("killed" in error && error.killed) return `${program} took longer than ${deadlineMs / 1000} s`;
  return `${program} failed`;
}
