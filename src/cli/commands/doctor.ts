import { type CommandEntry, jsonOption } from "../entry-types.ts";
import type { Finding } from "../doctor/finding.ts";
import { finding, withoutMend } from "../doctor/finding.ts";
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
    const [{ checkTools, checkAgents }, { checkHome }, { checkConfig }, { checkStrays }, { checkCgroup, checkDaemon }] =
      await Promise.all([
        import("../doctor/tools.ts"),
        import("../doctor/home.ts"),
        import("../doctor/config.ts"),
        import("../doctor/strays.ts"),
        import("../doctor/machine.ts"),
      ]);
    const proofs = input.flag("prove") ? await (await import("../doctor/prove.ts")).prove(context.env) : [];
    const home = [...checkHome(context.paths), ...(await checkStrays(context))];
    const findings: Finding[] = [
      ...(await checkTools(context.env)),
      ...checkAgents(context.env),
      ...home,
      ...(await checkConfig(context)),
      ...(home.some((each) => each.check === "leftovers") ? [] : [nothingLeft]),
      ...checkCgroup(context),
      ...(await checkDaemon(context)),
      ...proofs,
    ];
    const mended = new Set(input.flag("fix") ? findings.filter(mend) : []);
    if (input.flag("json")) context.json(findings.map((each) => ({ ...withoutMend(each), fixed: mended.has(each) })));
    else context.out(findingLines(findings, mended, context.paint).join("\n"));
    return findings.some((each) => each.level === "fail" && !mended.has(each)) ? 1 : 0;
  },
};

const nothingLeft = finding("leftovers", "ok", "Nothing is left over.");

function mend(finding: Finding): boolean {
  if (finding.mend === undefined) return false;
  finding.mend();
  return true;
}
