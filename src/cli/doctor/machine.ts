/** Checks the daemon and its surroundings: cgroup, database, terminal support. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { messageOf } from "../../contract/errors.ts";
import { build as installed } from "../../base/program.ts";
import { readCgroupFacts, scopePrefix, judgeCgroup } from "../../base/cgroup-risk.ts";
import type { Context } from "../context.ts";
import type { FindingJson } from "../../contract/daemon.ts";
import { findDaemon } from "../system/daemon/find-daemon.ts";
import { type Finding, finding } from "./finding.ts";

export function checkCgroup(context: Context): Finding[] {
  const found = findDaemon(context.paths);
  const pid = found.daemon === "running" ? found.file.pid : "self";
  const risk = judgeCgroup(readCgroupFacts(pid));
  if (risk.risk === "none") return [finding("cgroup", "ok", risk.sentence)];
  if (pid === "self" && scopePrefix() !== null && risk.risk === "unit-stop") {
    return [finding("cgroup", "info", `${risk.sentence} holdfast start would use its own scope here.`)];
  }
  return [finding("cgroup", "warn", risk.sentence, { fix: risk.fix })];
}

export async function checkDaemon(context: Context): Promise<Finding[]> {
  const found = findDaemon(context.paths);
  if (found.daemon !== "running") {
    return [
      existsSync(context.paths.database)
        ? await checkDatabase(context)
        : finding("database", "info", "The daemon has never been started in this home."),
    ];
  }
  try {
    const { pid, url, build } = found.file;
    const findings = await context.call("doctor");
    const running = `Running at ${url} (pid ${pid}, build ${build}).`;
    const daemon =
      build !== installed
        ? finding("daemon", "warn", `${running} Another build is installed: ${installed}.`, { fix: "holdfast restart" })
        : finding("daemon", "ok", running);
    return [daemon, ...findings];
  } catch (error) {
    return [finding("daemon", "fail", messageOf(error), { fix: "holdfast restart" })];
  }
}

/** The dashboard needs this optional package to show terminals; npm omits it if it cannot be installed. */
export function checkScreens({ dist }: Pick<Context, "dist">): Finding {
  const check = "screens";
  try {
    // Resolved like the daemon does; the package for this platform is needed too.
    const found = createRequire(join(dist, "cli.cjs")).resolve("@lydell/node-pty");
    createRequire(found).resolve(`@lydell/node-pty-${process.platform}-${process.arch}/package.json`);
    return finding(check, "ok", "The dashboard can show terminals.");
  } catch {
    return finding(check, "warn", "The package @lydell/node-pty is missing: the dashboard cannot show terminals.", {
      fix: "Reinstall Holdfast without --omit=optional.",
    });
  }
}

/** Enough for a gigabyte of events. */
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
        resolve(finding("database", "warn", `Cannot check the database: ${why}`, { fix: "holdfast start" }));
      }
    });
  });
}
