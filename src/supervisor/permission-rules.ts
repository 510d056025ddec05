/**
 * Answers permission requests by the user's rules. The rules are read before a batch with a request is committed and
 * applied in its transaction: request, answer and the line for the agent are stored together or not at all.
 */
import { judgeCall, optionFor, type CallFacts, type Verdict, type CallPath } from "../model/permission-rules.ts";
import type { Logger } from "../ports/api.ts";
import type { LoadedRules, RuleBook, RuleSource } from "../ports/permission-rules.ts";
import type { Store } from "../ports/store.ts";
import { messageOf } from "../contract/errors.ts";
import { ruleText } from "../contract/permission-rules.ts";
import type { SessionState } from "../model/session.ts";
import { callDetails, mergeCall, type CallDetails } from "../model/tool-call.ts";
import { callBefore } from "./permission-requests.ts";
import { lstatSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, normalize } from "node:path";

export function openRuleBook(services: {
  source: RuleSource;
  store: Pick<Store, "someEvents">;
  log: Logger;
}): RuleBook {
  const { source, store, log } = services;
  let loaded: LoadedRules | null = null;
  return {
    async refresh() {
      try {
        loaded = await source.load();
      } catch (error) {
        loaded = { ok: false, file: "", problem: messageOf(error) };
      }
      if (!loaded.ok) log.warn("permission rules are off", { problem: loaded.problem });
      return loaded;
    },
    judge(session, { toolCallId, updates, options }) {
      if (loaded?.ok !== true || loaded.rules.length === 0) return null;
      try {
        const before = toolCallId === null ? {} : callBefore(store, session.id, toolCallId, session.seq + 1);
        const details = callDetails(updates.reduce(mergeCall, before));
        const { rule: number, action } = judgeCall(loaded.rules, factsOf(session, details));
        const option = optionFor(action, options);
        if (number === null || option === null) return null;
        return { optionId: option.optionId, rule: { number, text: ruleText(loaded.rules[number - 1]!) } };
      } catch (error) {
        log.error("a permission rule could not be applied", { session: session.id, error });
        return null;
      }
    },
    problem: () => (loaded?.ok === false ? loaded.problem : null),
  };
}

export function factsOf(
  { agent, project, workspacePath }: Pick<SessionState, "agent" | "project" | "workspacePath">,
  { kind, title, command, cwd, paths, extras }: Omit<CallDetails, "diffs" | "words" | "input">,
): CallFacts {
  return {
    agent,
    project,
    tool: kind,
    title,
    command,
    extras,
    cwdInside: cwd === null ? null : isInside(workspacePath, cwd),
    paths: paths.map((path) => callPath(workspacePath, cwd, path)),
  };
}

/** What a verdict means for the user. */
export function formatVerdict({ rule, action, missing }: Verdict, canAnswer: boolean): string {
  if (rule === null) return "No rule matches: the request waits for you.";
  if (missing !== null)
    return `Rule ${rule} cannot be checked, because the agent names no ${missing}: it waits for you.`;
  if (action === "ask") return `Rule ${rule} leaves it to you.`;
  const done = action === "allow" ? "allows it once" : "rejects it once";
  if (!canAnswer) return `Rule ${rule} matches, but the agent offers no single option that ${done}: it waits for you.`;
  return `Rule ${rule} ${done}.`;
}

export function callPath(worktree: string, cwd: string | null, path: string): CallPath {
  const plain = path.startsWith("file://") ? ofUri(path) : path;
  const base = cwd === null ? worktree : absolute(worktree, cwd);
  const full = absolute(base, plain);
  const root = resolve(worktree) ?? worktree;
  const resolved = resolve(normalize(full));
  return {
    resolved: resolved === null ? null : within(root, resolved),
    written: within(root, within(worktree, normalize(full))),
    climbs: plain.split("/").includes(".."),
  };
}

/** Whether a directory is the worktree or below it, links followed. */
export function isInside(worktree: string, directory: string): boolean {
  const { resolved, climbs } = callPath(worktree, null, directory);
  return resolved !== null && !climbs && !isAbsolute(resolved);
}

function absolute(base: string, path: string): string {
  if (path === "~" || path.startsWith("~/")) return join(homedir(), path.slice(1));
  return isAbsolute(path) ? path : join(base, path);
}

/** Links followed as far as the path exists; null if that cannot be determined. */
function resolve(path: string): string | null {
  const missing: string[] = [];
  for (let here = path; ; here = dirname(here)) {
    try {
      return join(realpathSync.native(here), ...missing);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT" || here === dirname(here)) return null;
      // A link whose target is missing: writing to it creates that target, wherever it is.
      if (isLink(here)) return null;
      missing.unshift(basename(here));
    }
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function within(root: string, path: string): string {
  if (path === root) return "";
  return path.startsWith(root === "/" ? root : `${root}/`) ? path.slice(root.length + 1) : path;
}

function ofUri(uri: string): string {
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
