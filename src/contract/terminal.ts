/** Terminal sessions: the screen as text, and as a WebSocket to type into. */
import { linesJson } from "./chat.ts";
import { get, readers, schema, watchers, type Infer, type Operations } from "./operation.ts";

/** Text messages from the daemon on a terminal's WebSocket; the screen itself comes in binary ones. */
const terminalFrame = schema("terminalFrame", (z) =>
  z.discriminatedUnion("type", [
    z.object({ type: z.literal("attached"), launch: z.string(), readonly: z.boolean() }),
    z.object({ type: z.literal("detached"), reason: z.string() }),
  ]),
);
export type TerminalFrame = Infer<typeof terminalFrame>;

/** Text messages from a viewer; what the user types comes in binary ones. */
export const terminalRequest = schema("terminalRequest", (z) =>
  z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("resize"), cols: z.number(), rows: z.number() }),
    z.strictObject({ type: z.literal("readonly"), on: z.boolean() }),
  ]),
);
export type TerminalRequest = Infer<typeof terminalRequest>;

export const terminalOperations = {
  screen: get("/api/sessions/{id}/screen", "Show the session's screen", readers, linesJson, {
    lines: "how many of the last lines",
  }),
  // Typing needs `answer`, into a shell `all`.
  terminal: get(
    "/api/sessions/{id}/terminal",
    "WebSocket: the session's screen and keyboard",
    watchers,
    terminalFrame,
    { cols: "columns, 2 to 500", rows: "rows, 2 to 500", readonly: "1: only watch" },
  ),
} as const satisfies Operations;
