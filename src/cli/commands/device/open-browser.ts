/**
 * Opens a login link in the person's browser, where there is one. Command lines are read by everyone on the machine, so
 * the link stands in a file of the person's own, and only the file's address is handed on.
 */
import { spawn } from "node:child_process";

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

export function hasBrowser(env: NodeJS.ProcessEnv): boolean {
  return process.platform === "darwin" || (env["DISPLAY"] ?? env["WAYLAND_DISPLAY"] ?? "") !== "";
}
