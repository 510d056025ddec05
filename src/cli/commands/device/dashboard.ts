import { type CommandEntry } from "../../command.ts";
import type { Output } from "../../../contract/operations.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import type { Context } from "../../context.ts";
import { spawn } from "node:child_process";

export const command: CommandEntry = {
  options: [{ long: "no-open", description: "Only print the link" }],
  examples: [
    ["open it in the browser", "holdfast dashboard"],
    ["print a one-time login link", "holdfast dashboard --no-open"],
  ],
  notes: "The link works once, for one browser, within a minute. For another device: holdfast pair.",
  async run(context, input) {
    const opens = !input.flag("no-open");
    const { url, expiresAt, file } = await requestLoginLink(context, opens);
    context.out(url);
    const opened = opens && (await openBrowser(file, context.env));
    if (opens) {
      context.err(
        opened
          ? "Opening the browser. If the page stays empty (some packaged browsers cannot read the file), open the link yourself."
          : "Cannot open a browser here; open the link yourself.",
      );
    }
    context.print({ url, expiresAt, opened }, null);
  },
};

export async function requestLoginLink(context: Context, opens: boolean): Promise<Output<"loginLink">> {
  if (!opens || !hasBrowser(context.env)) return context.call("loginLink", { body: {} });
  try {
    return await context.call("loginLink", { body: { file: true } });
  } catch (error) {
    // An older daemon cannot write the file: the user opens the printed link.
    if (!(error instanceof HoldfastError) || error.code !== "invalid") throw error;
    return context.call("loginLink", { body: {} });
  }
}

/**
 * Opens a login link in the user's browser. Command lines are visible to everyone on the machine, so the link is in a
 * private file that redirects to it; `file` is its URL, null from an older daemon.
 */
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
