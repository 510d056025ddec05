/**
 * Who would end the agents together with whatever the daemon was started from. Pure: systemd ends a unit by its cgroup, a
 * tmux server or an agent inside it included, however well it was detached.
 */
export interface CgroupFacts {
  /** Text of /proc/self/cgroup; null where there is none. */
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

/** Units and scopes of ours leave their processes alone when they are stopped (KillMode=process), or are never stopped. */
const ownUnit = /^holdfast[\w-]*\.(service|scope)$/;
/** Services that are known to leave what they started alone: KillMode=process in the units that distributions ship. */
const harmlessServices = /^(ssh|sshd|cron|crond|atd|getty@.*|serial-getty@.*)(@.*)?\.service$/;

export function judgeCgroup(facts: CgroupFacts): CgroupRisk {
  const path = systemdPath(facts.cgroup);
  const units = path.split("/").filter((part) => /\.(service|scope)$/.test(part));
  const unit = units.at(-1) ?? null;
  if (unit === null) return safe(null, "No systemd unit holds this process.");
  // The person's own manager ends at the last logout, and everything below it, unless the person lingers.
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
      sentence: `Started inside ${unit}: stopping or restarting that unit would end every agent with it.`,
      fix: "Install Holdfast's own unit (holdfast service install), or set KillMode=process in that unit.",
    };
  }
  if (belowManager && facts.lingering !== "yes") {
    const sure = facts.lingering === "no";
    return {
      risk: "logout",
      unit,
      sentence: `Running below your systemd user manager, which ${sure ? "ends" : "may end"} at your last logout, and the agents with it.`,
      fix: "Let it go on after logout: loginctl enable-linger",
    };
  }
  if (/^session-.*\.scope$/.test(unit) && facts.killUserProcesses === "yes") {
    return {
      risk: "logout",
      unit,
      sentence: `Started inside ${unit}: this machine ends all processes of a login session at logout (KillUserProcesses=yes).`,
      fix: "loginctl enable-linger, then holdfast service install; or set KillUserProcesses=no in logind.conf.",
    };
  }
  return safe(unit, `${unit} does not end its processes with itself.`);
}

/**
 * Why launches must not get cgroups below this process's own: the tmux server may be outside of the unit, and an agent
 * that joined a cgroup inside it would end with the unit. Null where they may. A unit of ours is never ended with them.
 */
export function launchCgroupsRefused({ risk, unit }: CgroupRisk): string | null {
  if (risk === "none" || unit === null || ownUnit.test(unit)) return null;
  return `the daemon runs inside ${unit}, and an agent in a cgroup there would end with that unit`;
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
