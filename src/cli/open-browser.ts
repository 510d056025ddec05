/** Opens a link in the person's browser, where there is one. */
import { spawn } from "node:child_process";

export async function openBrowser(url: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const mac = process.platform === "darwin";
  const hasDisplay = mac || (env["DISPLAY"] ?? env["WAYLAND_DISPLAY"] ?? "") !== "";
  if (!hasDisplay) return false;
  // The link is a secret for its one use, and argv is readable by others on the machine; it is used up within the second.
  const child = spawn(mac ? "open" : "xdg-open", [url], { stdio: "ignore", detached: true });
  return new Promise((resolve) => {
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
