/** Chat sessions: turns, the agent's process and settings, and the recap. */
import { schema, list, time, type Infer, type Operations } from "./operation.ts";
import { sessionJson, verbAnswer, verbRequest } from "./session.ts";

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
  workers: {
    method: "GET",
    path: "/api/acp",
    summary: "List chat agents and their keepers",
    who: { device: "watch" },
    output: list(workerJson),
  },
  cancel: {
    method: "POST",
    path: "/api/sessions/{id}/acp/cancel",
    summary: "Ask the agent to end its turn",
    who: { device: "answer" },
    input: verbRequest,
    output: cancelJson,
  },
  endTurn: {
    method: "POST",
    path: "/api/sessions/{id}/acp/end-turn",
    summary: "Force-end the current turn",
    who: { device: "all" },
    input: verbRequest,
    output: sessionJson,
  },
  configure: {
    method: "POST",
    path: "/api/sessions/{id}/acp/configure",
    summary: "Change the agent's mode, model or another option",
    who: { device: "all" },
    input: configureRequest,
    output: sessionJson,
  },
  acpKill: {
    method: "POST",
    path: "/api/sessions/{id}/acp/kill",
    summary: "Stop by force; the worktree is not changed",
    who: { device: "all" },
    input: verbRequest,
    output: verbAnswer,
  },
  acpRestart: {
    method: "POST",
    path: "/api/sessions/{id}/acp/restart",
    summary: "Restart the agent's process; the conversation continues",
    who: { device: "all" },
    input: verbRequest,
    output: verbAnswer,
  },
  acpLogs: {
    method: "GET",
    path: "/api/sessions/{id}/acp/logs",
    summary: "Show the newest lines of the agent's stderr",
    who: { device: "watch", agent: "read" },
    query: { lines: "how many" },
    output: linesJson,
  },
  primer: {
    method: "GET",
    path: "/api/sessions/{id}/acp/context-primer",
    summary: "Get a recap of the last turns, for a conversation that was reset",
    who: { device: "watch", agent: "read" },
    query: { before_seq: "only events before this sequence number" },
    output: primerJson,
  },
  primerDismiss: {
    method: "POST",
    path: "/api/sessions/{id}/acp/context-primer/dismiss",
    summary: "Stop offering the recap after the last reset",
    who: { device: "answer" },
    input: verbRequest,
    output: sessionJson,
  },
} as const satisfies Operations;
