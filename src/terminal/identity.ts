/** How the processes of a session are told from all others. */
import type { Identity } from "../base/pid.ts";
import type { TreeTarget } from "../base/process-tree.ts";
import type { SessionState } from "../model/session.ts";
import type { LaunchFiles } from "./launch-files.ts";

/** In the environment of the agent and of everything it starts; its value is the launch id. */
export const launchMarker = "HOLDFAST_LAUNCH";

/** Everything of every launch that this session ever had. */
export function treeTarget(
  session: Pick<SessionState, "id" | "run">,
  files: LaunchFiles,
  roots: readonly Identity[],
): TreeTarget {
  const recorded = session.run.run === "up" && session.run.agent !== null ? [session.run.agent] : [];
  const current = session.run.run === "none" ? [] : [session.run.launch];
  const notes = files.notes(session.id);
  const contained = notes.flatMap((note) => note.contained ?? []);
  return {
    roots: [...roots, ...recorded],
    marker: { name: launchMarker, values: [...new Set([...notes.map(({ launch }) => launch), ...current])] },
    cgroups: notes.flatMap(({ cgroup = null }) => (cgroup === null ? [] : [cgroup])),
    ...(contained.length === 0 ? {} : { firsts: contained.flatMap(({ first }) => first ?? []) }),
  };
}
