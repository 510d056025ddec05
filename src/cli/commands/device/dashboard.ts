import { type CommandEntry, jsonOption } from "../../command.ts";
import type { Answers } from "../../../contract/answers.ts";
import { HoldfastError } from "../../../contract/error.ts";
import type { Context } from "../../context.ts";
import { spawn } from "node:child_process";

export const command: CommandEntry = {
  options: [{ long: "no-open", description: "only print the link" }, jsonOption],
  examples: [
    ["open it in the browser", "holdfast dashboard"],
    ["a one-time login link to open elsewhere", "holdfast dashboard --no-open"],
  ],
  notes: "The link logs one browser in, once, within a minute. For another device: holdfast pair.",
  daemon: "starts",
  async run(context, input) {
    const opens = !input.flag("no-open");
    const { url, expiresAt, file } = await askLoginLink(context, opens);
    const json = input.flag("json");
    if (!json) context.out(url);
    const opened = opens && (await openBrowser(file, context.env));
    if (opens) {
      context.err(
        opened
          ? "Opening the browser. If it shows nothing (some packaged browsers cannot read the file), open the link yourself."
          : "No browser could be opened here; open the link yourself.",
      );
    }
    if (json) context.json({ url, expiresAt, opened });
  },
};

export async function askLoginLink(context: Context, opens: boolean): Promise<Answers["loginLink"]> {
  if (!opens || !hasBrowser(context.env)) return context.call("loginLink", { body: {} });
  try {
    return await context.call("loginLink", { body: { file: true } });
  } catch (error) {
    // A daemon of an earlier version knows no files: its link is printed, and opened by hand.
    if (!(error instanceof HoldfastError) || error.code !== "invalid") throw error;
    return context.call("loginLink", { body: {} });
  }
}

/** `file` is the address of a file that redirects to the link; null from a daemon that makes none. */
export async function openBrowser(file: string | null | undefined, env: NodeJS.ProcessEnv): Promise<boolean> {
  const mac = process.platform === "darwin";
  if (!file?.startsWith("file:") || !hasBrowser(env)) return false;
  const child = spawn(mac ? "open" : "xdg-open", [file], { stdio: "ignore", detached: true });
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}

function hasBrowser(env: NodeJS.ProcessEnv): boolean {
  return process.platform === "darwin" || (env["DISPLAY"] ?? env["WAYLAND_DISPLAY"] ?? "") !== "";
}
