/** The shape of `permissions` in the user's own config.yaml. */
import * as z from "zod/mini";
import { ruleActions, ruleFields } from "../contract/permission-rules.ts";
import { notes } from "./notes.ts";

const maxRules = 500;
const maxPattern = 2000;

const action = (description: string) => z.optional(z.nullable(z.literal(true)).register(notes, { description }));
const pattern = (description: string, examples: string[]) =>
  z.optional(z.string().check(z.minLength(1), z.maxLength(maxPattern)).register(notes, { description, examples }));

const rule = z.strictObject({
  allow: action("Answer with the agent's option to allow this call once."),
  ask: action("Leave it to the user, whatever later rules say."),
  deny: action("Answer with the agent's option to reject this call once."),
  agent: pattern("Agent by name; * stands for any text.", ["claude"]),
  project: pattern("Project by id; * stands for any text.", ["my-app"]),
  tool: pattern("Kind of tool as ACP names it: read, edit, delete, move, search, execute, think, fetch, other.", [
    "execute",
  ]),
  command: pattern(
    "The complete command line. In an allow rule * never stands for ; & | $ ` < > ( ) \\\\ or a line break.",
    ["npm test *"],
  ),
  path: pattern(
    "Every path of the call, relative to the worktree or absolute; ** stands for any number of directories.",
    ["src/**"],
  ),
});

/** What no single key shows. */
const ruleFaults = z.superRefine<z.infer<typeof rule>[]>((rules, context) => {
  const fault = (path: (string | number)[], input: unknown, message: string, hint: string): void =>
    void context.issues.push({ code: "custom", path, input, message, params: { hint } });
  for (const [at, one] of rules.entries()) {
    const actions = ruleActions.filter((name) => one[name] !== undefined);
    if (actions.length !== 1) {
      fault([at], one, "needs exactly one of allow, ask and deny", "write one of them, such as allow: true");
    } else if (ruleFields.every((field) => one[field] === undefined)) {
      fault([at], one, "would match every call", `add what it is about: ${ruleFields.join(", ")} (tool: "*" for all)`);
    }
    if (one.path?.split("/").includes("..") === true) {
      fault([at, "path"], one.path, "may not contain ..", "write it relative to the worktree, or as an absolute path");
    }
    if (one.path?.startsWith("~") === true) {
      fault([at, "path"], one.path, "may not start with ~", "write the absolute path of your home");
    }
  }
});

export const permissions = z.array(rule).check(z.maxLength(maxRules), ruleFaults).register(notes, {
  description:
    "Answers to permission requests of chat agents; the first rule that matches counts. What no rule matches waits for you.",
});

export type PermissionConfig = z.infer<typeof rule>;
