/**
 * Which permission rule a tool call meets, and what follows. Pure: paths come in resolved. What is not known about a call
 * never widens anything: an allow rule does not match it, and a rule that denies or asks stops there for the user.
 */
import type { PermissionRule, RuleAction } from "../contract/permission-rules.ts";
import type { PermissionOption } from "./session.ts";
import { matchesCommand, matchesName, matchesPath } from "./permission-patterns.ts";
import { commandParts } from "./shell-parts.ts";

export interface CallFacts {
  agent: string;
  project: string;
  /** ACP's kind of tool; null where the agent named none. */
  tool: string | null;
  title: string | null;
  command: string | null;
  /** Inputs beside the command that may change what it does. */
  extras: readonly string[];
  /** Whether the command's directory is in the worktree; null where the agent named none. */
  cwdInside: boolean | null;
  paths: CallPath[];
}

export interface CallPath {
  /** Without symbolic links; below the worktree relative to it, elsewhere absolute. Null where it could not be found out. */
  resolved: string | null;
  /** As the agent wrote it, made absolute or relative in the same way, links left. */
  written: string;
  /** Whether `..` is in what the agent wrote. */
  climbs: boolean;
}

export interface Verdict {
  /** Counted from 1; null where no rule matched. */
  rule: number | null;
  action: RuleAction | null;
  /** Set where the rule could not be checked, because the agent left out what it needs. */
  missing: "tool" | "command" | "path" | null;
}

/** A longer command or path is not matched: nobody writes one by hand. */
const maxCommand = 16 * 1024;
const maxPath = 4096;
/** Kinds of calls that do what they do to the paths that they name. A command may touch anything. */
const fileTools: ReadonlySet<string> = new Set(["read", "edit", "delete", "move", "search"]);

type Match = "yes" | "no" | "unknown";

export function judgeCall(rules: readonly PermissionRule[], call: CallFacts): Verdict {
  for (const [at, rule] of rules.entries()) {
    const names = both(nameMatch(rule.agent, call.agent), nameMatch(rule.project, call.project));
    const fields = [
      ["tool", nameMatch(rule.tool, call.tool)],
      ["command", commandMatch(rule, call)],
      ["path", pathMatch(rule, call)],
    ] as const;
    if (names === "no" || fields.some(([, match]) => match === "no")) continue;
    const missing = fields.find(([, match]) => match === "unknown")?.[0] ?? null;
    if (rule.action === "allow" && (missing !== null || !mayAllow(rule, call))) continue;
    return { rule: at + 1, action: missing === null ? rule.action : "ask", missing };
  }
  return { rule: null, action: null, missing: null };
}

/**
 * The option that an automatic answer picks: the one that holds for this call alone. Null where the agent offers none, or
 * more than one, so that only a user can choose.
 */
export function optionFor(action: RuleAction | null, options: readonly PermissionOption[]): PermissionOption | null {
  if (action === null || action === "ask") return null;
  const kind = action === "allow" ? "allow_once" : "reject_once";
  const [found = null, ...others] = options.filter((option) => option.kind === kind);
  const sameId = options.filter((option) => option.optionId === found?.optionId);
  return others.length === 0 && sameId.length === 1 ? found : null;
}

function nameMatch(pattern: string | undefined, name: string | null): Match {
  if (pattern === undefined) return "yes";
  if (name === null) return "unknown";
  return matchesName(pattern, name) ? "yes" : "no";
}

function commandMatch({ command: pattern, action }: PermissionRule, call: CallFacts): Match {
  if (pattern === undefined) return "yes";
  const { command, tool, title } = call;
  if (action === "allow") {
    if (tool !== "execute" || command === null || command.length > maxCommand) return "no";
    return matchesCommand(pattern, command.trim(), "allow") ? "yes" : "no";
  }
  // Some agents put the command into the title and nowhere else.
  const lines = [command, tool === "execute" ? title : null].filter((line) => line !== null);
  const short = lines.filter((line) => line.length <= maxCommand);
  if (short.some((line) => commandParts(line).some((part) => matchesCommand(pattern, part, "other")))) return "yes";
  const isUnknown = short.length < lines.length || (command === null && (tool === null || tool === "execute"));
  return isUnknown ? "unknown" : "no";
}

function pathMatch({ path: pattern, action }: PermissionRule, { paths, tool }: CallFacts): Match {
  if (pattern === undefined) return "yes";
  if (action === "allow") {
    const fits = ({ resolved, climbs }: CallPath): boolean =>
      resolved !== null && !climbs && resolved.length <= maxPath && matchesPath(pattern, resolved, "allow");
    return paths.length > 0 && paths.every(fits) ? "yes" : "no";
  }
  const anywhere = pattern === "**" || pattern.startsWith("**/");
  const hits = (path: string): boolean =>
    matchesPath(pattern, path, "other") ||
    (anywhere && path.startsWith("/") && matchesPath(pattern, path.slice(1), "other"));
  const known = paths.flatMap(({ resolved, written }) => [written, ...(resolved === null ? [] : [resolved])]);
  if (known.some((path) => path.length <= maxPath && hits(path))) return "yes";
  const isUnknown =
    paths.some(({ resolved, written }) => resolved === null || written.length > maxPath) ||
    (paths.length === 0 && (tool === null || fileTools.has(tool)));
  return isUnknown ? "unknown" : "no";
}

/** What a rule must name before it allows: a blanket rule was not written with these in mind. */
function mayAllow(rule: PermissionRule, { tool, command, cwdInside, paths, extras }: CallFacts): boolean {
  // The agent's own rights: a plan that is approved, a mode in which it asks no longer.
  if (tool === "switch_mode") return rule.tool === "switch_mode";
  if (rule.command !== undefined) return cwdInside !== false && extras.length === 0;
  // The agent names a tool for files, and a command to run with it: only a rule about commands can allow that.
  if (command !== null && tool !== null && fileTools.has(tool)) return false;
  // A path says nothing about a call that is not about files.
  if (rule.path !== undefined) return tool !== null && fileTools.has(tool);
  // Who writes `tool: edit` has the worktree in mind, not the home directory.
  if (paths.length === 0) return tool === null || tool === "search" || !fileTools.has(tool);
  return paths.every(({ resolved, climbs }) => resolved !== null && !climbs && matchesPath("**", resolved, "allow"));
}

function both(a: Match, b: Match): Match {
  if (a === "no" || b === "no") return "no";
  return a === "unknown" || b === "unknown" ? "unknown" : "yes";
}
