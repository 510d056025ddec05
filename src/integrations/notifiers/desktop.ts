/** Desktop notifications through notify-send or osascript, started with arguments and without a shell. */
import { execFile } from "node:child_process";
import * as z from "zod/mini";
import { defineNotifier } from "./notifier.ts";

const deadlineMs = 5_000;

export const desktop = defineNotifier({
  name: "desktop",
  description: "Show notifications on this desktop.",
  schema: z.boolean(),
  quotable: [""],
  send(_, { title, text }) {
    const [program, args] = process.platform === "darwin" ? osascript(title, text) : notifySend(title, text);
    return new Promise((resolve, reject) => {
      execFile(program, args, { timeout: deadlineMs }, (error) => {
        if (error === null) resolve();
        else reject(new Error(reason(error, program), { cause: error }));
      });
    });
  },
});

/** Some desktops render the body as markup. */
function notifySend(title: string, text: string): [string, string[]] {
  const plain = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return ["notify-send", ["--app-name=Holdfast", "--", title, plain]];
}

/** The texts are arguments to the script, never part of it. */
function osascript(title: string, text: string): [string, string[]] {
  const script = ["on run argv", "display notification (item 2 of argv) with title (item 1 of argv)", "end run"];
  return ["osascript", [...script.flatMap((line) => ["-e", line]), title, text]];
}

function reason(error: NodeJS.ErrnoException | (Error & { killed?: boolean }), program: string): string {
  if ("code" in error && error.code === "ENOENT") return `${program} is not installed`;
  if ("killed" in error && error.killed) return `${program} took longer than ${deadlineMs / 1000} s`;
  return `${program} failed`;
}
