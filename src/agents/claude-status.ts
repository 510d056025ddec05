/**
 * Claude Code writes `<config>/sessions/<pid>.json` while its terminal interface runs: idle, busy or waiting, right in
 * every state. A killed one leaves its file behind, so the process's start time must agree.
 */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { readStat } from "../base/pid.ts";
import { findInner } from "../base/pid-namespace.ts";
import type { AgentStatus } from "../ports/agents.ts";
import type { Activity } from "../model/session.ts";

const activities: Record<string, Activity> = { idle: "idle", busy: "working", waiting: "needs_input" };

export function readClaudeStatus(
  process: { pid: number; startTime: string },
  ownHome: string | null = null,
): AgentStatus | null {
  if (ownHome !== null) return readWithin(process, join(ownHome, ".claude/sessions"));
  const env = environmentOf(process.pid);
  const config = env.get("CLAUDE_CONFIG_DIR") ?? join(env.get("HOME") ?? homedir(), ".claude");
  try {
    return parseClaudeStatus(readFileSync(join(config, "sessions", `${process.pid}.json`), "utf8"), process);
  } catch {
    // Not there yet, or not ours to read: hooks and screen say it.
    return null;
  }
}

/** A contained one names its file, and itself, by the pid that it has inside. */
function readWithin(outer: { pid: number }, sessions: string): AgentStatus | null {
  try {
    for (const name of readdirSync(sessions)) {
      const inner = Number(/^(\d+)\.json$/.exec(name)?.[1]);
      const pid = Number.isInteger(inner) ? findInner(outer.pid, inner) : null;
      const startTime = pid === null ? undefined : readStat(pid)?.startTime;
      const path = join(sessions, name);
      // The agent may put anything there: a pipe would block us forever.
      if (startTime === undefined || !lstatSync(path).isFile()) continue;
      const status = parseClaudeStatus(readFileSync(path, "utf8"), { pid: inner, startTime });
      if (status !== null) return status;
    }
  } catch {
    // Not there yet.
  }
  return null;
}

/** Null where the file belongs to another process of that pid, or says nothing that is known. */
export function parseClaudeStatus(text: string, process: { pid: number; startTime: string }): AgentStatus | null {
  let file: Record<string, unknown>;
  try {
    file = JSON.parse(text) as Record<string, unknown>;
  } catch {
    return null;
  }
  if (file["pid"] !== process.pid || String(file["procStart"]) !== process.startTime) return null;
  const activity = activities[String(file["status"])];
  const since = file["statusUpdatedAt"];
  if (activity === undefined || typeof since !== "number") return null;
  const waitingFor = file["waitingFor"];
  const agentSessionId = file["sessionId"];
  return {
    activity,
    since,
    reason: typeof waitingFor === "string" ? `Claude Code waits for: ${waitingFor}` : null,
    agentSessionId: typeof agentSessionId === "string" ? agentSessionId : null,
  };
}

/** The environment that a process was started with; empty where the system does not show it. */
function environmentOf(pid: number): Map<string, string> {
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
    return new Map(pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]));
  } catch {
    return new Map();
  }
}
