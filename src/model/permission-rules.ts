/**
 * Which permission rule a tool call meets, and what follows. Pure: paths come in resolved. What is not known about a call
 * never widens anything: an allow rule does not match it, and a rule that denies or asks stops there for the user.
 */
import type { PermissionRule, RuleAction } from "../contract/permission-rules.ts";
import type { PermissionOption } from "../contract/ids.ts";

/**
 * Patterns of permission rules. Each is matched against the entire text, in time that grows with its length: the text is
 * the agent's, and an expression that backtracks would let it hold the daemon up.
 */

/**
 * What `*` never stands for in a rule that allows a command: with any of these the line is more than one simple command,
 * or reads differently from what it does. A pattern may name them literally. Text is matched by UTF-16 unit: the last range
 * is the first half of tag characters.
 */
const metacharacters =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[;&|$`<>()\\\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\udb40-\udb43]/;

const anything = (): boolean => true;
const plain = (letter: string): boolean => !metacharacters.test(letter);

/** `*` stands for any text. For agents, projects and tools. */
export function matchesName(pattern: string, text: string): boolean {
  return matchStars(literals(pattern), text, anything);
}

/** `*` stands for any text; ` *` at the end also for nothing: `npm test *` matches `npm test`. */
export function matchesCommand(pattern: string, text: string, action: "allow" | "other"): boolean {
  const fits = action === "allow" ? plain : anything;
  if (matchStars(literals(pattern), text, fits)) return true;
  return pattern.endsWith(" *") && matchStars(literals(pattern.slice(0, -2)), text, fits);
}

/**
 * `*` stands for any text within one segment of a path, a segment `**` for any number of segments. In a rule that allows,
 * a wildcard never stands for `.git`: the files there decide what git runs.
 */
export function matchesPath(pattern: string, path: string, action: "allow" | "other"): boolean {
  // A relative pattern is about the worktree, and nothing outside of it.
  if (pattern.startsWith("/") !== path.startsWith("/")) return false;
  const normalize = (text: string): string => (action === "allow" ? text : text.toLowerCase());
  const wanted = normalize(pattern).split("/");
  const segments = path === "" ? [] : normalize(path).split("/");
  const free = (segment: string): boolean => action === "other" || segment.toLowerCase() !== ".git";
  /** Which numbers of leading segments the pattern's segments so far can stand for. */
  let reached = segments.map(() => false);
  reached.push(false);
  reached[0] = true;
  for (const part of wanted) {
    const next = reached.map(() => false);
    for (let at = 0; at < reached.length; at++) {
      if (part === "**") {
        next[at] = reached[at]! || (at > 0 && next[at - 1]! && free(segments[at - 1]!));
      } else if (at > 0 && reached[at - 1]!) {
        const segment = segments[at - 1]!;
        next[at] = part === segment || (free(segment) && matchStars(literals(part), segment, anything));
      }
    }
    reached = next;
  }
  return reached[segments.length]!;
}

/** The text between stars; `\*` is a star. */
function literals(pattern: string): string[] {
  const parts = [""];
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at]!;
    if (letter === "*") parts.push("");
    else if (letter === "\\" && pattern[at + 1] === "*") parts[parts.length - 1] += pattern[++at]!;
    else parts[parts.length - 1] += letter;
  }
  return parts;
}

/** Follows all places at once where the literals so far can end. */
function matchStars(parts: readonly string[], text: string, fits: (letter: string) => boolean): boolean {
  const [first = "", ...others] = parts;
  if (others.length === 0) return text === first;
  if (!text.startsWith(first)) return false;
  let ends = new Uint8Array(text.length + 1);
  ends[first.length] = 1;
  for (const literal of others) {
    const next = new Uint8Array(text.length + 1);
    let open = false;
    for (let at = 0; at <= text.length; at++) {
      open = (open && at > 0 && fits(text[at - 1]!)) || ends[at] === 1;
      if (open && text.startsWith(literal, at)) next[at + literal.length] = 1;
    }
    ends = next;
  }
  return ends[text.length] === 1;
}

/** Takes a command line apart as far as permission rules need it. No shell: only what is certain without running one. */

/** Between two of these is one command, or the inside of a quote, a group or a substitution. */
const separators = /[;&|\n\r`(){}<>"']|\$\(/;
/** Programs that run the command behind them. */
const runners = new Set(["sudo", "env", "command", "exec", "nohup", "time", "nice", "xargs", "builtin", "eval"]);
const assignment = /^[A-Za-z_][A-Za-z0-9_]*=/;
const blank = /\s+/;
/** More assignments and runners before a command are not plausible; a line made of them would take quadratic time. */
const maxStripped = 20;

/**
 * Every command that the line may contain: the line itself, and each part of it with and without assignments, runners
 * such as `sudo`, and the directory of its program. More rather than fewer: only rules that deny or ask use it.
 */
export function commandParts(line: string): string[] {
  const found = new Set<string>([line.trim()]);
  for (const part of line.split(separators)) {
    let words = part.trim().split(blank);
    for (let stripped = 0; stripped <= maxStripped && words.length > 0; stripped++) {
      const [first = ""] = words;
      if (first === "") break;
      found.add(words.join(" "));
      const name = first.slice(first.lastIndexOf("/") + 1);
      found.add([name, ...words.slice(1)].join(" "));
      if (!assignment.test(first) && !runners.has(name) && !first.startsWith("-")) break;
      words = words.slice(1);
    }
  }
  return [...found];
}

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

/** A longer command or path is not matched: no user writes one by hand. */
const maxCommand = 16 * 1024;
const maxPath = 4096;
/** Kinds of calls that do what they do to the paths that they name. A command may touch anything. */
const fileTools: ReadonlySet<string> = new Set(["read", "edit", "delete", "move", "search"]);

type Match = "yes" | "no" | "unknown";

export function judgeCall(rules: readonly PermissionRule[], call: CallFacts): Verdict {
  for (const [at, rule] of rules.entries()) {
    const names = [nameMatch(rule.agent, call.agent), nameMatch(rule.project, call.project)];
    const fields = [
      ["tool", nameMatch(rule.tool, call.tool)],
      ["command", commandMatch(rule, call)],
      ["path", pathMatch(rule, call)],
    ] as const;
    if (names.includes("no") || fields.some(([, match]) => match === "no")) continue;
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
  // A path does not apply to a call that is not about files.
  if (rule.path !== undefined) return tool !== null && fileTools.has(tool);
  // Who writes `tool: edit` has the worktree in mind, not the home directory.
  if (paths.length === 0) return tool === null || tool === "search" || !fileTools.has(tool);
  return paths.every(({ resolved, climbs }) => resolved !== null && !climbs && matchesPath("**", resolved, "allow"));
}
