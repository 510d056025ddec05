/** What surrounds the daemon: would something end its agents, and what it says of itself. */
import { existsSync } from "node:fs";
import { messageOf } from "../../protocol/error.ts";
import { readCgroupFacts, scopePrefix } from "../../base/cgroup-facts.ts";
import { judgeCgroup } from "../../base/cgroup-risk.ts";
import type { Context } from "../context.ts";
import { findDaemon } from "../find-daemon.ts";
import { type Finding, finding } from "./finding.ts";

export function checkCgroup(context: Context): Finding[] {
  const found = findDaemon(context.paths);
  const pid = found.daemon === "running" ? found.file.pid : "self";
  const risk = judgeCgroup(readCgroupFacts(pid));
  if (risk.risk === "none") return [finding("cgroup", "ok", risk.sentence)];
  if (pid === "self" && scopePrefix() !== null && risk.risk === "unit-stop") {
    return [finding("cgroup", "info", `${risk.sentence} holdfast start would use a scope of its own here.`)];
  }
  return [finding("cgroup", "warn", risk.sentence, { fix: risk.fix })];
}

export async function checkDaemon(context: Context): Promise<Finding[]> {
  const found = findDaemon(context.paths);
  if (found.daemon !== "running") {
    const message = existsSync(context.paths.database)
      ? "The daemon is not running; the database is checked when it starts."
      : "The daemon was never started here.";
    return [finding("database", "info", message)];
  }
  try {
    const { pid, url, build } = found.file;
    const findings = await context.call("doctor");
    return [finding("daemon", "ok", `Running at ${url} (pid ${pid}, build ${build}).`), ...findings];
  } catch (error) {
    return [finding("daemon", "fail", messageOf(error), { fix: "holdfast restart" })];
  }
}
