/** The result of a check. --fix runs `repair`; the finding then counts as fixed. */
import type { FindingJson } from "../../contract/daemon.ts";
import { type Paint, clean, count } from "../render/text.ts";

const marks: Record<FindingJson["level"], string> = { ok: "ok", info: "info", warn: "warn", fail: "FAIL" };

export function findingLines(
  findings: readonly FindingJson[],
  fixed: ReadonlySet<FindingJson>,
  paint: Paint,
): string[] {
  const color = { ok: paint.green, info: paint.dim, warn: paint.yellow, fail: paint.red };
  const width = Math.max(0, ...findings.map(({ check }) => check.length));
  const lines = findings.flatMap((finding) => {
    const { check, level, message, fix, fixable } = finding;
    const isFixed = fixed.has(finding);
    const mark = isFixed ? paint.green("fixed") : color[level](marks[level].padEnd(5));
    const line = `${mark} ${check.padEnd(width)}  ${clean(message)}`;
    if (level === "ok" || isFixed || fix === null) return [line];
    return [
      line,
      `${" ".repeat(width + 8)}${paint.dim(`-> ${clean(fix)}${fixable ? "  (or holdfast doctor --fix)" : ""}`)}`,
    ];
  });
  const open = findings.filter((finding) => !fixed.has(finding));
  const failed = open.filter(({ level }) => level === "fail").length;
  const warned = open.filter(({ level }) => level === "warn").length;
  const end =
    failed + warned === 0 ? "No problems found." : `${count(failed, "failure")}, ${count(warned, "warning")}.`;
  return [...lines, "", end];
}

export interface Finding extends FindingJson {
  repair?: () => void;
}

export function finding(
  check: string,
  level: FindingJson["level"],
  message: string,
  { fix = null, repair }: { fix?: string | null; repair?: () => void } = {},
): Finding {
  return { check, level, message, fix, fixable: repair !== undefined, ...(repair === undefined ? {} : { repair }) };
}
