/** Permission requests of chat agents, and the rules that answer them. */
import { answerers, get, list, post, schema, watchers, type Infer, type Operations } from "./operation.ts";
import { ruleActions } from "./permission-rules.ts";
import { permissionOptions } from "./session.ts";

/** By the option's own id or by its meaning; without a request id the oldest open request is meant. */
const answerRequest = schema("answerRequest", (z) =>
  z.strictObject({
    requestId: z.optional(z.string().check(z.maxLength(512))),
    optionId: z.optional(z.string().check(z.maxLength(512))),
    answer: z.optional(z.enum(["allow", "allow_always", "deny"])),
  }),
);
export type AnswerRequest = Infer<typeof answerRequest>;

/** `reason` explains why this answer did not count, if it did not. */
const answerJson = schema("answerJson", (z) => z.object({ answered: z.boolean(), reason: z.nullable(z.string()) }));

/** One open request in full: `acp approve` shows it before it asks. */
const permissionRequestJson = schema("permissionRequestJson", (z) =>
  z.object({
    id: z.string(),
    title: z.string(),
    kind: z.nullable(z.string()),
    command: z.nullable(z.string()),
    cwd: z.nullable(z.string()),
    paths: z.array(z.string()),
    diffs: z.array(z.object({ path: z.string(), before: z.string(), after: z.string() })),
    words: z.string(),
    input: z.nullable(z.string()),
    extras: z.array(z.string()),
    options: permissionOptions(z),
  }),
);
export type PermissionRequestJson = Infer<typeof permissionRequestJson>;

const permissionRulesJson = schema("permissionRulesJson", (z) =>
  z.object({
    file: z.string(),
    /** Why no rule applies; null if the file is valid. */
    problem: z.nullable(z.string()),
    rules: z.array(
      z.object({
        number: z.number(),
        line: z.number(),
        text: z.string(),
        action: z.enum(ruleActions),
        agent: z.optional(z.string()),
        project: z.optional(z.string()),
        tool: z.optional(z.string()),
        command: z.optional(z.string()),
        path: z.optional(z.string()),
      }),
    ),
  }),
);

const permissionTestJson = schema("permissionTestJson", (z) =>
  z.object({
    rule: z.nullable(z.number()),
    text: z.nullable(z.string()),
    action: z.nullable(z.enum(ruleActions)),
    result: z.enum(["allowed", "denied", "waits"]),
    reason: z.string(),
  }),
);

export const permissionOperations = {
  questions: get(
    "/api/sessions/{id}/acp/questions",
    "List the agent's open permission requests in full",
    watchers,
    list(permissionRequestJson),
  ),
  answer: post(
    "/api/sessions/{id}/acp/answer",
    "Answer a permission request, once",
    answerers,
    answerJson,
    answerRequest,
  ),
  permissionRules: get(
    "/api/permissions",
    "List the permission rules of the user's config.yaml",
    watchers,
    permissionRulesJson,
  ),
  permissionTest: get(
    "/api/permissions/test",
    "Show which permission rule would match, without answering anything",
    watchers,
    permissionTestJson,
    {
      session: "session with an open permission request",
      question: "id of that request",
      agent: "agent's name",
      project: "project id",
      tool: "kind of tool, e.g. execute",
      command: "complete command line",
      path: "paths, one per line",
      cwd: "directory of the command",
    },
  ),
} as const satisfies Operations;
