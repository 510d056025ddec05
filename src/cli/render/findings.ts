/** `doctor`: one line a finding, what to do about it below. */
import type { FindingJson } from "../../contract/wire.ts";
import type { Paint } from "./paint.ts";
import { clean, count } from "./text.ts";

const marks: Record<FindingJson["level"], string> = { ok: "ok", info: "info", warn: "warn", fail: "FAIL" };

export function findingLines(
  findings: readonly FindingJson[],
  mended: ReadonlySet<FindingJson>,
  paint: Paint,
): string[] {
  const colour = { ok: paint.green, info: paint.dim, warn: paint.yellow, fail: paint.red };
  const width = Math.max(0, ...findings.map(({ check }) => check.length));
  const lines = findings.flatMap((finding) => {
    const { check, level, message, fix, fixable } = finding;
    const isMended = mended.has(finding);
    const mark = isMended ? paint.green("fixed") : colour[level](marks[level].padEnd(5));
    const line = `${mark} ${check.padEnd(width)}  ${clean(message)}`;
    if (level === "ok" || isMended || fix === null) return [line];
    return [
      line,
      `${" ".repeat(width + 8)}${paint.dim(`-> ${clean(fix)}${fixable ? "  (or holdfast doctor --fix)" : ""}`)}`,
    ];
  });
  const open = findings.filter((finding) => !mended.has(finding));
  const failed = open.filter(({ level }) => level === "fail").length;
  const warned = open.filter(({ level }) => level === "warn").length;
  const end =
    failed + warned === 0 ? "Everything is in order." : `${count(failed, "failure")}, ${count(warned, "warning")}.`;
  return [...lines, "", end];
}
