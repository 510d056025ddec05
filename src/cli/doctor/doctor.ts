import { type CommandEntry, jsonOption } from "../command.ts";
import type { Finding } from "./finding.ts";
import { finding, withoutMend } from "./finding.ts";
import type { SettingsJson } from "../../contract/wire.ts";
import type { Context } from "../context.ts";
import { findDaemon } from "../system/daemon/find-daemon.ts";
import { findingLines } from "../render/findings.ts";

export const command: CommandEntry = {
  options: [
    { long: "fix", description: "mend what can be mended: permissions, leftovers" },
    { long: "prove", description: "also do for real what a session needs, in a scratch directory" },
    jsonOption,
  ],
  examples: [
    ["is everything in order", "holdfast doctor"],
    ["mend what can be mended", "holdfast doctor --fix"],
  ],
  notes: "Exit code 1 if anything failed. The daemon is asked if it runs, and never started.",
  daemon: "alone",
  async run(context, input) {
    const [
      { checkTools, checkAgents, judgeConfigured },
      { checkEnvironment, searchEnvironment },
      { checkHome },
      { checkConfig },
      { checkStrays },
      { checkCgroup, checkDaemon, checkScreens },
      { checkReach },
    ] = await Promise.all([
      import("./tools.ts"),
      import("./environment.ts"),
      import("./home.ts"),
      import("./config.ts"),
      import("./strays.ts"),
      import("./machine.ts"),
      import("./reach.ts"),
    ]);
    const proofs = input.flag("prove") ? await (await import("./prove.ts")).prove(context.env) : [];
    const daemon = await checkDaemon(context);
    // Of a home in another directory than before only the start can find out what belongs to it, and it refuses until then.
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
    const mended = new Set(input.flag("fix") ? findings.filter(mend) : []);
    if (input.flag("json")) context.json(findings.map((each) => ({ ...withoutMend(each), fixed: mended.has(each) })));
    else context.out(findingLines(findings, mended, context.paint).join("\n"));
    return findings.some((each) => each.level === "fail" && !mended.has(each)) ? 1 : 0;
  },
};

/** None where no daemon runs or answers: its own check reports that. */
async function configuredAgents(context: Context): Promise<SettingsJson["agents"]> {
  if (findDaemon(context.paths).daemon !== "running") return [];
  const answer = await context.call("settings").catch(() => null);
  return answer?.agents ?? [];
}

const nothingLeft = finding("leftovers", "ok", "Nothing is left over.");

function mend(finding: Finding): boolean {
  if (finding.mend === undefined) return false;
  finding.mend();
  return true;
}
