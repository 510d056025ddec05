/** What `session cleanup` prints. */
import type { CleanupLine } from "../../contract/command.ts";
import { clean, count } from "./text.ts";
import { compareNaturally } from "../../model/text.ts";

export const cleanupHeading = "Checking for completed sessions...";

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
