/** What surrounds the daemon: would something end its agents, and what it says of itself. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { messageOf } from "../../protocol/error.ts";
import { readCgroupFacts, scopePrefix } from "../../base/cgroup-facts.ts";
import { judgeCgroup } from "../../base/cgroup-risk.ts";
import type { Context } from "../context.ts";
import type { FindingJson } from "../../protocol/wire.ts";
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
    return [
      existsSync(context.paths.database)
        ? await checkDatabase(context)
        : finding("database", "info", "The daemon was never started here."),
    ];
  }
  try {
    const { pid, url, build } = found.file;
    const findings = await context.call("doctor");
    return [finding("daemon", "ok", `Running at ${url} (pid ${pid}, build ${build}).`), ...findings];
  } catch (error) {
    return [finding("daemon", "fail", messageOf(error), { fix: "holdfast restart" })];
  }
}

/** A gigabyte of events is read in less. */
const databaseMs = 60_000;

/** Only the daemon opens the database, or this program in its place: see src/store/check.ts. */
function checkDatabase({ dist, paths, env }: Context): Promise<Finding> {
  const options = { env: { ...env, HOLDFAST_HOME: paths.home }, timeout: databaseMs };
  return new Promise((resolve) => {
    execFile(process.execPath, [join(dist, "check-database.cjs")], options, (error, stdout) => {
      try {
        resolve(JSON.parse(stdout) as FindingJson);
      } catch {
        const why = error === null ? "no answer" : messageOf(error).split("\n")[0];
        resolve(finding("database", "warn", `The database could not be looked at: ${why}`, { fix: "holdfast start" }));
      }
    });
  });
}
