/**
 * Whether the agents would be killed together with the unit that the daemon was started from: systemd kills a unit by its
 * cgroup, including a detached tmux server or agent inside it.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";

export interface CgroupFacts {
  /** Text of /proc/self/cgroup; null if missing. */
  cgroup: string | null;
  lingering: "yes" | "no" | "unknown";
  killUserProcesses: "yes" | "no" | "unknown";
}

export interface CgroupRisk {
  risk: "none" | "unit-stop" | "logout";
  unit: string | null;
  sentence: string;
  fix: string | null;
}

/** Our own units leave their processes running when stopped (KillMode=process), or are never stopped. */
const ownUnit = /^holdfast[\w-]*\.(service|scope)$/;
/** Services that leave their processes running: KillMode=process in the units that distributions ship. */
const harmlessServices = /^(ssh|sshd|cron|crond|atd|getty@.*|serial-getty@.*)(@.*)?\.service$/;

export function judgeCgroup(facts: CgroupFacts): CgroupRisk {
  const path = systemdPath(facts.cgroup);
  const units = path.split("/").filter((part) => /\.(service|scope)$/.test(part));
  const unit = units.at(-1) ?? null;
  if (unit === null) return safe(null, "This process is not in a systemd unit.");
  // Without lingering, the user manager and everything below it ends at the last logout.
  const belowManager = units.some((name) => /^user@\d+\.service$/.test(name));
  if (
    unit.endsWith(".service") &&
    !ownUnit.test(unit) &&
    !/^user@\d+\.service$/.test(unit) &&
    !harmlessServices.test(unit)
  ) {
    return {
      risk: "unit-stop",
      unit,
      sentence: `Started inside ${unit}: stopping or restarting that unit would kill all agents.`,
      fix: "Install Holdfast's own unit (holdfast service install), or set KillMode=process in that unit.",
    };
  }
  if (belowManager && facts.lingering !== "yes") {
    const sure = facts.lingering === "no";
    return {
      risk: "logout",
      unit,
      sentence: `Running below your systemd user manager, which ${sure ? "stops" : "may stop"} at your last logout and kills the agents.`,
      fix: "To keep it running after logout: loginctl enable-linger",
    };
  }
  if (/^session-.*\.scope$/.test(unit) && facts.killUserProcesses === "yes") {
    return {
      risk: "logout",
      unit,
      sentence: `Started inside ${unit}: this machine kills all processes of a login session at logout (KillUserProcesses=yes).`,
      fix: "loginctl enable-linger, then holdfast service install; or set KillUserProcesses=no in logind.conf.",
    };
  }
  return safe(unit, `Stopping ${unit} does not kill its processes.`);
}

/**
 * Why launches must not get cgroups below this process's own, or null if they may: the tmux server may be outside the
 * unit, and an agent in a cgroup inside it would be killed with the unit.
 */
export function launchCgroupsRefused({ risk, unit }: CgroupRisk): string | null {
  if (risk === "none" || unit === null || ownUnit.test(unit)) return null;
  return `the daemon runs inside ${unit}, and an agent in a cgroup there would be killed with that unit`;
}

function safe(unit: string | null, sentence: string): CgroupRisk {
  return { risk: "none", unit, sentence, fix: null };
}

/** The unified hierarchy's path, or that of the systemd hierarchy on older machines. */
function systemdPath(text: string | null): string {
  const lines = (text ?? "").split("\n");
  const unified = lines.find((line) => line.startsWith("0::"))?.slice("0::".length) ?? "";
  const named = lines.map((line) => /^\d+:name=systemd:(.*)$/.exec(line)?.[1]).find((path) => path !== undefined);
  return /\.(service|scope)/.test(unified) ? unified : (named ?? unified);
}

/** loginctl and systemd-run respond in milliseconds, or never if there is no bus. */
const deadlineMs = 2_000;

export function readCgroupFacts(pid: number | "self" = "self"): CgroupFacts {
  let cgroup: string | null;
  try {
    cgroup = readFileSync(`/proc/${pid}/cgroup`, "utf8");
  } catch {
    cgroup = null;
  }
  // No unit: no need to query systemd.
  if (cgroup === null || !/\.(service|scope)/.test(cgroup)) {
    return { cgroup, lingering: "unknown", killUserProcesses: "unknown" };
  }
  return {
    cgroup,
    lingering: yesNo(run(["loginctl", "show-user", String(userInfo().uid), "--property=Linger", "--value"])),
    killUserProcesses: yesNo(
      run([
        "busctl",
        "get-property",
        "org.freedesktop.login1",
        "/org/freedesktop/login1",
        "org.freedesktop.login1.Manager",
        "KillUserProcesses",
      ]),
    ),
  };
}

/** The argv prefix that runs a command in its own scope; null if that does not work here. */
export function scopePrefix(): string[] | null {
  // Delegated: systemd leaves the agents' cgroups below the scope alone.
  const prefix = ["systemd-run", "--user", "--scope", "--quiet", "--collect", "--property=Delegate=yes"];
  return run([...prefix, "--", "true"]) === null
    ? null
    : [...prefix, `--unit=holdfast-${process.pid}-${Date.now()}`, "--"];
}

function yesNo(text: string | null): "yes" | "no" | "unknown" {
  if (text === null) return "unknown";
  if (/^(b )?(yes|true)$/.test(text.trim())) return "yes";
  return /^(b )?(no|false)$/.test(text.trim()) ? "no" : "unknown";
}

function run([command, ...args]: string[]): string | null {
  try {
    return execFileSync(command!, args, { encoding: "utf8", timeout: deadlineMs, stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return null;
  }
}
