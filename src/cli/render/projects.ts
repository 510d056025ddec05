/** `project ls`. */
import type { ProjectJson } from "../../protocol/wire.ts";
import { clean, compareNaturally, count, table } from "./text.ts";

export function projectLines(projects: readonly ProjectJson[]): string[] {
  if (projects.length === 0) return ["No projects. Register one with holdfast init or holdfast project add <path>."];
  return table(
    projects
      .toSorted((a, b) => compareNaturally(a.id, b.id))
      .map(({ id, prefix, agent, kind, sessions, path }) => [
        clean(id),
        `${clean(prefix)}-*`,
        `${clean(agent)} (${kind})`,
        count(sessions, "session"),
        clean(path),
      ]),
  );
}
