/** What only the running daemon can say about itself, for `holdfast doctor`. */
import type { CgroupState } from "../base/cgroup.ts";
import type { Paths } from "../base/paths.ts";
import type { FindingJson } from "../protocol/wire.ts";
import type { Parts } from "./parts.ts";

export function selfCheck(parts: Parts, paths: Paths, cgroups: CgroupState): FindingJson[] {
  const problems = parts.store.verify();
  const database: FindingJson =
    problems.length === 0
      ? { check: "database", level: "ok", message: "The database is whole.", fix: null, fixable: false }
      : {
          check: "database",
          level: "fail",
          message: `The database is damaged: ${problems.slice(0, 5).join("; ")}`,
          fix: `Stop the daemon, keep a copy of ${paths.database}, and put the newest file of ${paths.backups} in its place.`,
          fixable: false,
        };
  const socket: FindingJson[] =
    paths.socketMoved === null
      ? []
      : [
          {
            check: "socket",
            level: "info",
            message: `${paths.socketMoved}; using ${paths.socket}.`,
            fix: "A shorter HOLDFAST_HOME puts the socket back below it.",
            fixable: false,
          },
        ];
  return [database, ...socket, containment(cgroups)];
}

/** Whether an end reaches all that an agent started, whatever it did. */
function containment(cgroups: CgroupState): FindingJson {
  const check = "agents' ends";
  if (cgroups.is === "ok") {
    const message = `Each agent gets a cgroup of its own (${cgroups.how}, ${cgroups.directory}): all that it starts ends with it.`;
    return { check, level: "ok", message, fix: null, fixable: false };
  }
  return {
    check,
    level: "warn",
    message: `Agents get no cgroup: ${cgroups.why}. A process that clears its environment and detaches can outlive its agent.`,
    fix: "Run the daemon below your systemd user manager: holdfast service install. In a container: mount cgroups writable.",
    fixable: false,
  };
}
