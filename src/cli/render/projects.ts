/** `project ls`. */
import type { ProjectJson } from "../../contract/wire.ts";
import { isOff } from "../../contract/trust.ts";
import { clean, count, table } from "./text.ts";
import { compareNaturally } from "../../model/text.ts";

/** After `init` and `project add`. */
export function registeredLines(projects: readonly ProjectJson[]): string[] {
  return projects.flatMap(({ id, path, trust = "none", notices = [] }) => [
    `Project ${clean(id)} registered (${clean(path)}).`,
    ...(isOff(trust)
      ? [`  Its holdfast.yaml is not trusted; sessions use defaults. Change it: holdfast project trust ${clean(id)}`]
      : []),
    ...notices.map((notice) => `  Note: ${clean(notice)}`),
  ]);
}

export function projectLines(projects: readonly ProjectJson[]): string[] {
  if (projects.length === 0) return ["No projects. Register one with holdfast init or holdfast project add <path>."];
  return table(
    projects
      .toSorted((a, b) => compareNaturally(a.id, b.id))
      .map(({ id, prefix, agent, kind, sessions, path, trust = "none" }) => [
        clean(id),
        `${clean(prefix)}-*`,
        `${clean(agent)} (${kind})`,
        count(sessions, "session"),
        isOff(trust) ? `${clean(path)}  (holdfast.yaml not trusted)` : clean(path),
      ]),
  );
}
