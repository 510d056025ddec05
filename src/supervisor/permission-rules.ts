/**
 * Answers questions by the user's permission rules. The rules are read before a batch with a question is committed and
 * applied in its transaction: question, answer and the line for the agent are stored together or not at all.
 */
import { judgeCall, optionFor, type CallFacts, type Verdict } from "../model/permission-rules.ts";
import type { Logger } from "../ports/api.ts";
import type { LoadedRules, RuleBook, RuleSource } from "../ports/permission-rules.ts";
import type { Store } from "../ports/store.ts";
import { messageOf } from "../contract/error.ts";
import { ruleText } from "../contract/permission-rules.ts";
import type { SessionState } from "../model/session.ts";
import { callDetails, mergeCall, type CallDetails } from "../model/tool-call.ts";
import { callPath, isInside } from "./call-paths.ts";
import { callBefore } from "./question-details.ts";

export function openRuleBook(parts: { source: RuleSource; store: Pick<Store, "someEvents">; log: Logger }): RuleBook {
  const { source, store, log } = parts;
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
export function verdictWords({ rule, action, missing }: Verdict, canAnswer: boolean): string {
  if (rule === null) return "No rule matches: the question waits for you.";
  if (missing !== null)
    return `Rule ${rule} cannot be checked, because the agent names no ${missing}: it waits for you.`;
  if (action === "ask") return `Rule ${rule} leaves it to you.`;
  const done = action === "allow" ? "allows it once" : "rejects it once";
  if (!canAnswer) return `Rule ${rule} matches, but the agent offers no single option that ${done}: it waits for you.`;
  return `Rule ${rule} ${done}.`;
}
