/** Permission rules as the user wrote them in their own config.yaml; model/permission-rules.ts decides with them. */

export const ruleActions = ["allow", "ask", "deny"] as const;
export type RuleAction = (typeof ruleActions)[number];

export const ruleFields = ["agent", "project", "tool", "command", "path"] as const;

export interface PermissionRule {
  action: RuleAction;
  agent?: string | undefined;
  project?: string | undefined;
  /** ACP's kind of tool. */
  tool?: string | undefined;
  command?: string | undefined;
  path?: string | undefined;
}

/** What an automatic answer was given by. */
export interface RuleName {
  /** From 1, in the order of the file. */
  number: number;
  text: string;
}

/** Actor of an answer that a rule gave. */
export const ruleActor = "rule";

/** `allow tool "execute" command "npm test *"` */
export function ruleText(rule: PermissionRule): string {
  const fields = ruleFields.flatMap((field) =>
    rule[field] === undefined ? [] : [`${field} ${JSON.stringify(rule[field])}`],
  );
  return [rule.action, ...fields].join(" ");
}
