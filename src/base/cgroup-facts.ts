/** Reads what cgroup-risk judges, and tells whether a scope of our own can be had. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import type { CgroupFacts } from "./cgroup-risk.ts";

/** loginctl and systemd-run answer in milliseconds, or not at all when no bus is there. */
const deadlineMs = 2_000;

export function readCgroupFacts(pid: number | "self" = "self"): CgroupFacts {
  let cgroup: string | null;
  try {
    cgroup = readFileSync(`/proc/${pid}/cgroup`, "utf8");
  } catch {
    cgroup = null;
  }
  // Without a unit there is nothing to ask systemd about.
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

/** argv in front of a command that puts it into a scope of its own, or null where that does not work here. */
export function scopePrefix(): string[] | null {
  // Delegated: each agent gets a cgroup below the scope's, which systemd then leaves alone.
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
