/** What only the running daemon can say about itself, for `holdfast doctor`. */
import type { CgroupState } from "../base/cgroup.ts";
import type { Paths } from "../base/paths.ts";
import { peerLookUp } from "../base/peer.ts";
import { notContained } from "../contract/containment.ts";
import type { FindingJson } from "../contract/daemon.ts";
import type { Services } from "../supervisor/services.ts";

export async function selfCheck(
  services: Pick<Services, "store" | "contain">,
  paths: Paths,
  cgroups: CgroupState,
): Promise<FindingJson[]> {
  const problems = services.store.verify();
  const database: FindingJson =
    problems.length === 0
      ? { check: "database", level: "ok", message: "The database is intact.", fix: null, fixable: false }
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
  return [database, ...socket, ends(cgroups), callers(), await containment(services), await devcontainers(services)];
}

/** Whether a program that an agent started can pass for the person. */
function callers(): FindingJson {
  const check = "agents' rights";
  const look = peerLookUp();
  if (look.is === "ok") {
    const message = "The daemon identifies the process behind each request: agents cannot act as you.";
    return { check, level: "ok", message, fix: null, fixable: false };
  }
  return {
    check,
    level: "warn",
    message: `The daemon cannot identify the process behind a request: ${look.why}. An agent that removes its HOLDFAST_ variables can act as you.`,
    fix: "Run Holdfast on Linux with the Node that it comes with: npm ci --include=optional.",
    fixable: false,
  };
}

/** Whether an end reaches all that an agent started, whatever it did. */
function ends(cgroups: CgroupState): FindingJson {
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

/** A problem only where somebody wants contained sessions: they do not start without. */
async function containment(services: Pick<Services, "store" | "contain">): Promise<FindingJson> {
  const check = "containment";
  const [problem] = await services.contain.preflight({ contain: { ...notContained, mode: "worktree" } });
  if (problem === undefined) {
    const message = "Sessions can be contained in their worktrees (bubblewrap works).";
    return { check, level: "ok", message, fix: null, fixable: false };
  }
  const wanted = services.store.sessions().some(({ contain }) => contain?.mode === "worktree");
  return { check, level: wanted ? "fail" : "info", message: problem, fix: null, fixable: false };
}

export async function devcontainers(services: Pick<Services, "contain" | "store">): Promise<FindingJson> {
  const check = "dev containers";
  const problems = await services.contain.preflight({ contain: { ...notContained, mode: "devcontainer" } });
  if (problems.length === 0) {
    const message = "Sessions can run in dev containers (the devcontainer CLI and a container engine work).";
    return { check, level: "ok", message, fix: null, fixable: false };
  }
  const wanted = services.store.sessions().some(({ contain }) => contain?.mode === "devcontainer");
  return { check, level: wanted ? "fail" : "info", message: problems.join(" "), fix: null, fixable: false };
}
