/** The permission rules of the user's own config.yaml, read again when the file changed. */
import { lazy } from "../base/lazy.ts";
import type { ConfiguredRule, LoadedRules, RuleSource } from "../ports/permission-rules.ts";
import { ruleActions, ruleFields } from "../contract/permission-rules.ts";
import type { Loaded } from "./load.ts";
import { formatProblem } from "./file.ts";
import type { PermissionConfig } from "./schema.ts";

/** The schema and the YAML reader load with the first question: a starting daemon needs neither. */
export function openRules(file: string): RuleSource {
  const cache = lazy(async () => new (await import("./load.ts")).ConfigCache());
  return { load: async () => rulesOf(await (await cache()).load(file, "user")) };
}

export function rulesOf(loaded: Loaded): LoadedRules {
  const { file } = loaded;
  if (!loaded.ok) {
    const [first, ...others] = loaded.problems;
    const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
    return { ok: false, file, problem: first === undefined ? file : `${formatProblem(first, file)}${more}` };
  }
  const { permissions = [] } = loaded.config as { permissions?: PermissionConfig[] };
  return {
    ok: true,
    file,
    rules: permissions.map((rule, at) => ruleOf(rule, loaded.problem(["permissions", at], "", null).line)),
  };
}

function ruleOf(rule: PermissionConfig, line: number): ConfiguredRule {
  const action = ruleActions.find((name) => rule[name] !== undefined) ?? "ask";
  const fields = ruleFields.flatMap((field) => (rule[field] === undefined ? [] : [[field, rule[field]] as const]));
  return { action, ...Object.fromEntries(fields), line };
}
