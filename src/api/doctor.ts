/** Checks for `holdfast doctor`: those of the daemon itself, and all of them, by running the command. */
import { spawn } from "node:child_process";
import type { CgroupState } from "../base/cgroup.ts";
import type { Paths } from "../base/paths.ts";
import { peerLookUp } from "../base/peer.ts";
import { startChild, whyNotStarted } from "../base/run.ts";
import { type ContainMode, notContained } from "../contract/containment.ts";
import { finding, type FindingJson } from "../contract/daemon.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { Services } from "../supervisor/services.ts";

type Needs = Pick<Services, "store" | "contain">;

export async function selfCheck(services: Needs, paths: Paths, cgroups: CgroupState): Promise<FindingJson[]> {
  const problems = services.store.verify();
  return [
    problems.length === 0
      ? finding("database", "ok", "The database is intact.")
      : finding(
          "database",
          "fail",
          `The database is damaged: ${problems.slice(0, 5).join("; ")}`,
          `Stop the daemon, keep a copy of ${paths.database}, and put the newest file of ${paths.backups} in its place.`,
        ),
    ...(paths.socketMoved === null
      ? []
      : [
          finding(
            "socket",
            "info",
            `${paths.socketMoved}; using ${paths.socket}.`,
            "A shorter HOLDFAST_HOME puts the socket back below it.",
          ),
        ]),
    cgroupFinding(cgroups),
    callerFinding(),
    await containment(services),
    await devcontainers(services),
  ];
}

/** Whether a program that an agent started can pass for the user. */
function callerFinding(): FindingJson {
  const check = "agents' rights";
  const lookUp = peerLookUp();
  return lookUp.is === "ok"
    ? finding(check, "ok", "The daemon identifies the process behind each request: agents cannot act as you.")
    : finding(
        check,
        "warn",
        `The daemon cannot identify the process behind a request: ${lookUp.why}. An agent that removes its HOLDFAST_ variables can act as you.`,
        "Run Holdfast on Linux with the Node that it comes with: npm ci --include=optional.",
      );
}

/** Whether a stop reaches every process of an agent. */
function cgroupFinding(cgroups: CgroupState): FindingJson {
  const check = "agents' ends";
  return cgroups.is === "ok"
    ? finding(
        check,
        "ok",
        `Each agent gets its own cgroup (${cgroups.how}, ${cgroups.directory}): everything it starts ends with it.`,
      )
    : finding(
        check,
        "warn",
        `Agents get no cgroup: ${cgroups.why}. A process that clears its environment and detaches can outlive its agent.`,
        "Run the daemon below your systemd user manager: holdfast service install. In a container: mount cgroups writable.",
      );
}

function containment(services: Needs): Promise<FindingJson> {
  const works = "Sessions can be contained in their worktrees (bubblewrap works).";
  return containFinding(services, "containment", "worktree", works);
}

export function devcontainers(services: Needs): Promise<FindingJson> {
  const works = "Sessions can run in dev containers (the devcontainer CLI and a container engine work).";
  return containFinding(services, "dev containers", "devcontainer", works);
}

/** A failure only if sessions of this mode exist: they do not start without. */
async function containFinding(
  { store, contain }: Needs,
  check: string,
  mode: ContainMode,
  works: string,
): Promise<FindingJson> {
  const problems = await contain.preflight({ contain: { ...notContained, mode } });
  if (problems.length === 0) return finding(check, "ok", works);
  const isNeeded = store.sessions().some((session) => session.contain?.mode === mode);
  return finding(check, isNeeded ? "fail" : "info", problems.join(" "));
}

/** Some tools are asked for their version, one after the other. */
const deadlineMs = 60_000;
const maxBytes = 4 * 1024 * 1024;

/** Runs `holdfast doctor`. Its process group is killed when the caller disconnects or the daemon stops. */
export async function fullDoctor(cli: readonly string[], signal: AbortSignal): Promise<FindingJson[]> {
  const [file = "", ...args] = cli;
  const child = await startChild(() =>
    spawn(file, [...args, "doctor", "--json"], { cwd: "/", detached: true, stdio: ["ignore", "pipe", "ignore"] }),
  ).catch((cause: unknown) => {
    const message = `Could not start the doctor: ${whyNotStarted(cause)}.`;
    throw new HoldfastError("internal", message, { hint: "Run `holdfast doctor`.", cause });
  });
  const text = await new Promise<string>((resolve, reject) => {
    const end = (): void => {
      try {
        process.kill(-child.pid!, "SIGKILL");
      } catch {
        // It has just exited, or never started.
      }
    };
    let output = "";
    const timer = setTimeout(end, deadlineMs);
    signal.addEventListener("abort", end, { once: true });
    child.stdout.setEncoding("utf8").on("data", (part: string) => {
      if (output.length < maxBytes) output += part;
    });
    child.on("error", reject);
    child.on("close", () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(output);
    });
  });
  try {
    // It exits with 1 if it found a problem; what counts is whether its output is complete.
    const findings = JSON.parse(text) as FindingJson[];
    return findings.map(({ check, level, message, fix, fixable }) => ({ check, level, message, fix, fixable }));
  } catch (cause) {
    throw new HoldfastError("internal", "The doctor gave no answer.", { hint: "Run `holdfast doctor`.", cause });
  }
}
