import { type CommandEntry, projectOption } from "../../command.ts";
import { requireProject } from "../project/find-project.ts";
import { clean, count } from "../../render/text.ts";
import { compareNaturally } from "../../../model/text.ts";
import { leaveDirectory } from "./verb.ts";
import type { CleanupLine } from "../../../contract/session.ts";

const cleanupHeading = "Checking for completed sessions...";

export function cleanupLines(lines: readonly CleanupLine[], dryRun: boolean): string[] {
  const sorted = lines.toSorted((a, b) => compareNaturally(a.session, b.session));
  const done = sorted.filter(({ outcome }) => outcome === (dryRun ? "would-kill" : "cleaned")).length;
  const end = dryRun
    ? `Dry run complete. ${count(done, "session")} would be cleaned.`
    : `Cleanup complete. ${count(done, "session")} cleaned.`;
  return [
    cleanupHeading,
    "",
    ...sorted.flatMap((line) => [
      cleanupLine(line),
      ...(line.notes ?? []).map((note) => `    ${note.startsWith("  ") ? "  " : ""}${clean(note)}`),
    ]),
    ...(sorted.length > 0 ? [""] : []),
    end,
  ];
}

function cleanupLine({ session, outcome, why }: CleanupLine): string {
  const reason = clean(why ?? "no reason given");
  switch (outcome) {
    case "would-kill":
      return `  Would kill ${session}`;
    case "cleaned":
      return `  Cleaned: ${session}`;
    case "error":
      return `  Error cleaning ${session}: ${reason}`;
    case "skipped":
      return `  Skipped: ${session} (${reason})`;
    default:
      return outcome satisfies never;
  }
}

export const command: CommandEntry = {
  options: [
    projectOption,
    { long: "dry-run", description: "Only show what would be done" },
    { long: "dead", description: "Also clean up sessions whose processes are confirmed dead" },
  ],
  examples: [
    ["preview it", "holdfast session cleanup --dry-run"],
    ["clean up one project", "holdfast session cleanup -p my-app"],
  ],
  notes:
    "A session is completed if its pull request is merged or its issue is closed. Completed sessions are killed, and\ntheir worktrees move to the trash. Orchestrators are never cleaned up.",
  async run(context, input) {
    const project = input.text("project");
    if (project !== undefined) await requireProject(context, project);
    const dryRun = input.flag("dry-run");
    const body = { dryRun, dead: input.flag("dead"), ...(project === undefined ? {} : { project }) };
    if (!dryRun) leaveDirectory();
    const lines = (await context.call("cleanup", { body })).toSorted((a, b) => compareNaturally(a.session, b.session));
    context.print(lines, cleanupLines(lines, dryRun));
    return lines.some(({ outcome }) => outcome === "error") ? 1 : 0;
  },
};
