/** A repository's holdfast.yaml as a question: everything that it would run or change, nothing cut and nothing hidden. */
import { effectOf, visible } from "../../contract/trust.ts";
import type { TrustJson } from "../../contract/wire.ts";
import { clean } from "./text.ts";

export function trustLines({ file, state, parts, changes, since, notices }: TrustJson): string[] {
  if (file === null) return ["This project has no holdfast.yaml; nothing needs trust."];
  const shown = (changes ?? parts.map((part) => ({ change: "same" as const, ...part }))).filter(
    ({ change }) => changes === null || change !== "same",
  );
  const same = (changes?.length ?? shown.length) - shown.length;
  const lines = shown.map(({ change, key, value }) => {
    const sign = changes === null ? " " : change === "added" ? "+" : "-";
    return `${sign} ${clean(key)}: ${visible(value)}\n      ${change === "removed" ? "no longer: " : ""}${effectOf(key)}`;
  });
  return [
    ...(parts.length === 0 && lines.length === 0 ? [`Nothing in ${clean(file)} needs trust.`] : []),
    ...(lines.length === 0 ? [] : [headings[state](clean(file), since?.slice(0, 10) ?? null), ...lines]),
    ...(same === 0 ? [] : [`  ${same === 1 ? "1 more setting is" : `${same} more settings are`} unchanged.`]),
    ...notices.map((notice) => `Note: ${clean(notice)}`),
  ];
}

const headings: Record<TrustJson["state"], (file: string, since: string | null) => string> = {
  none: (file) => `${file}:`,
  trusted: (file) => `${file} is trusted. It may run or change:`,
  undecided: (file) => `${file} would run or change:`,
  changed: (file, since) => `${file} has changed${since === null ? "" : ` since your answer of ${since}`}:`,
  declined: (file) => `${file} is not trusted. It would run or change:`,
};
