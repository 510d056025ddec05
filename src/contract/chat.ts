/** Chat sessions: turns, the agent's process and settings, and the recap. */
import {
  answerers,
  get,
  list,
  post,
  readers,
  schema,
  time,
  trigger,
  user,
  watchers,
  type Infer,
  type Operations,
} from "./operation.ts";
import { sessionJson, verbResponse } from "./session.ts";

const cancelJson = schema("cancelJson", (z) =>
  z.object({
    cancelled: z.boolean(),
    stopReason: z.nullable(z.string()),
    reason: z.nullable(z.string()),
  }),
);

const configureRequest = schema("configureRequest", (z) => {
  const text = z.string().check(z.maxLength(200));
  return z.strictObject({
    mode: z.optional(text),
    model: z.optional(text),
    option: z.optional(z.strictObject({ id: text, value: text })),
  });
});
export type ConfigureRequest = Infer<typeof configureRequest>;

export const linesJson = schema("linesJson", (z) => z.object({ lines: z.array(z.string()) }));

const primerJson = schema("primerJson", (z) =>
  z.object({ markdown: z.string(), turns: z.number(), omitted: z.number() }),
);

const workerJson = schema("workerJson", (z) =>
  z.object({
    pid: z.nullable(z.number()),
    session: z.string(),
    agent: z.string(),
    state: z.string(),
    build: z.string(),
    stale: z.boolean(),
    /** Whether the agent runs without its keeper. */
    detached: z.boolean(),
    startedAt: time(z),
  }),
);
export type WorkerJson = Infer<typeof workerJson>;

export const chatOperations = {
  workers: get("/api/acp", "List chat agents and their keepers", watchers, list(workerJson)),
  cancel: trigger("/api/sessions/{id}/acp/cancel", "Ask the agent to end its turn", answerers, cancelJson),
  endTurn: trigger("/api/sessions/{id}/acp/end-turn", "Force-end the current turn", user, sessionJson),
  configure: post(
    "/api/sessions/{id}/acp/configure",
    "Change the agent's mode, model or another option",
    user,
    sessionJson,
    configureRequest,
  ),
  acpKill: trigger("/api/sessions/{id}/acp/kill", "Stop by force; the worktree is not changed", user, verbResponse),
  acpRestart: trigger(
    "/api/sessions/{id}/acp/restart",
    "Restart the agent's process; the conversation continues",
    user,
    verbResponse,
  ),
  acpLogs: get("/api/sessions/{id}/acp/logs", "Show the newest lines of the agent's stderr", readers, linesJson, {
    lines: "how many",
  }),
  primer: get(
    "/api/sessions/{id}/acp/context-primer",
    "Get a recap of the last turns, for a conversation that was reset",
    readers,
    primerJson,
    { before_seq: "only events before this sequence number" },
  ),
  primerDismiss: trigger(
    "/api/sessions/{id}/acp/context-primer/dismiss",
    "Stop offering the recap after the last reset",
    answerers,
    sessionJson,
  ),
} as const satisfies Operations;
