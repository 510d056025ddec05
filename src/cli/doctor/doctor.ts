import { type CommandEntry } from "../command.ts";
import { type Finding, finding, findingJson, findingLines } from "./finding.ts";
import type { SettingsJson } from "../../contract/daemon.ts";
import type { Context } from "../context.ts";
import { findDaemon } from "../system/daemon/find-daemon.ts";
import { existsSync } from "node:fs";
import { loadConfig } from "../../config/load.ts";
import { formatProblem } from "../../config/file.ts";
import { count } from "../render/text.ts";
import { defaultLaunchOptions, readLaunchOptions } from "../../base/launch-options.ts";
import { readJson } from "../../base/durable-file.ts";
import { reachProblems } from "../system/daemon/reach.ts";
import { checkEnvironment, searchEnvironment } from "./environment.ts";
import { checkHome } from "./home.ts";
import { checkCgroup, checkDaemon, checkScreens } from "./machine.ts";
import { prove } from "./prove.ts";
import { checkStrays } from "./strays.ts";
import { checkAgents, checkTools, judgeConfigured } from "./tools.ts";

const check = "configuration";

async function checkConfig(context: Context): Promise<Finding[]> {
  const { paths } = context;
  const own = existsSync(paths.config) ? [await loadConfig(paths.config, "user")] : [];
  // The check of the daemon itself reports why it does not respond.
  const projects = findDaemon(paths).daemon === "running" ? await context.call("projects").catch(() => []) : [];
  const files = new Set(projects.flatMap(({ configFile }) => configFile ?? []));
  const loaded = [...own, ...(await Promise.all([...files].map((file) => loadConfig(file))))];
  const problems = loaded.flatMap((each) => (each.ok ? [] : each.problems));
  if (problems.length > 0) {
    const fix = "Fix the file. Existing sessions use the last valid configuration; new sessions are refused.";
    return problems.map((problem) => finding(check, "fail", formatProblem(problem, problem.file), { fix }));
  }
  return loaded.length === 0
    ? []
    : [finding(check, "ok", `${count(loaded.length, "configuration file")} can be read.`)];
}

export const command: CommandEntry = {
  options: [
    { long: "fix", description: "Fix what can be fixed: permissions, leftover files" },
    { long: "prove", description: "Also run a self-test in a scratch directory" },
  ],
  examples: [
    ["check everything", "holdfast doctor"],
    ["fix what can be fixed", "holdfast doctor --fix"],
  ],
  notes: "Exits 1 if anything failed. Queries the daemon if it is running; never starts it.",
  daemon: "alone",
  async run(context, input) {
    const proofs = input.flag("prove") ? await prove(context.env) : [];
    const daemon = await checkDaemon(context);
    // Only `start` can determine what belongs to a home that was moved, and it refuses until the user decides.
    const isElsewhere = daemon.some(({ check }) => check === "home");
    const home = [...checkHome(context.paths), ...(isElsewhere ? [] : await checkStrays(context))];
    const search = searchEnvironment(context);
    const findings: Finding[] = [
      ...(await checkTools(search)),
      checkScreens(context),
      ...checkAgents(search, context.env),
      ...judgeConfigured(await configuredAgents(context)),
      ...(await checkEnvironment(context)),
      ...home,
      ...(await checkConfig(context)),
      ...(home.some((each) => each.check === "leftovers") ? [] : [nothingLeft]),
      ...checkCgroup(context),
      ...checkReach(context),
      ...daemon,
      ...proofs,
    ];
    const fixed = new Set(input.flag("fix") ? findings.filter(({ repair }) => repair !== undefined) : []);
    for (const { repair } of fixed) repair?.();
    const values = findings.map((each) => ({ ...findingJson(each), fixed: fixed.has(each) }));
    context.print(values, findingLines(findings, fixed, context.paint));
    return findings.some((each) => each.level === "fail" && !fixed.has(each)) ? 1 : 0;
  },
};

/** Empty if the daemon is not running or not responding: its own check reports that. */
async function configuredAgents(context: Context): Promise<SettingsJson["agents"]> {
  if (findDaemon(context.paths).daemon !== "running") return [];
  const answer = await context.call("settings").catch(() => null);
  return answer?.agents ?? [];
}

const nothingLeft = finding("leftovers", "ok", "No leftovers found.");

function checkReach({ paths }: Pick<Context, "paths">): Finding[] {
  const found = findDaemon(paths);
  const read = readJson(paths.launchFile);
  const last = read.is === "known" ? readLaunchOptions(read.value) : null;
  // The file of an older daemon lacks newer options.
  const running = found.daemon === "running" ? readLaunchOptions(found.file.options) : null;
  const options = running ?? last ?? defaultLaunchOptions;
  const { host, publicUrls, tlsCert } = options;
  const scheme = tlsCert === null ? "http" : "https";
  const also = publicUrls.length === 0 ? "" : `, and as ${publicUrls.join(", ")}`;
  const problems = reachProblems(options, paths);
  return [
    finding("access", "ok", `Browsers reach the dashboard over ${scheme} on ${host}${also}.`),
    ...problems.map(({ message, fix }) => finding("access", "warn", message, { fix })),
  ];
}
