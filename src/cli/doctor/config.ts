/** The configuration files that the daemon reads: the person's own, and while it runs those of the registered projects. */
import { existsSync } from "node:fs";
import { loadConfig, loadUserConfig } from "../../config/load.ts";
import { formatProblem } from "../../config/file.ts";
import type { Context } from "../context.ts";
import { findDaemon } from "../system/daemon/find-daemon.ts";
import { count } from "../render/text.ts";
import { type Finding, finding } from "./finding.ts";

const check = "configuration";

export async function checkConfig(context: Context): Promise<Finding[]> {
  const { paths } = context;
  const own = existsSync(paths.config) ? [await loadUserConfig(paths.config)] : [];
  // The check of the daemon itself says why it does not answer.
  const projects = findDaemon(paths).daemon === "running" ? await context.call("projects").catch(() => []) : [];
  const files = new Set(projects.flatMap(({ configFile }) => configFile ?? []));
  const loaded = [...own, ...(await Promise.all([...files].map((file) => loadConfig(file))))];
  const wrong = loaded.flatMap((each) => (each.ok ? [] : each.problems));
  if (wrong.length > 0) {
    const fix = "Correct it. Until then sessions go by what the file said before, and new ones are refused.";
    return wrong.map((problem) => finding(check, "fail", formatProblem(problem, problem.file), { fix }));
  }
  return loaded.length === 0
    ? []
    : [finding(check, "ok", `${count(loaded.length, "configuration file")} can be read.`)];
}
