/**
 * Knows no session of an earlier process. FORGETS_WITH: its error code for that (default -32002). LISTS: the ids that
 * it lists, as JSON; without it, it has no list.
 */
import { answer, refuse, serve } from "./rpc.ts";

const { LISTS: lists } = process.env;
const ids = JSON.parse(lists ?? "[]") as string[];

serve({
  "session/load": (message) => refuse(message, Number(process.env["FORGETS_WITH"] ?? -32002), "Resource not found"),
  "session/list": (message) =>
    lists === undefined
      ? refuse(message, -32601, "Method not found")
      : answer(message, { sessions: ids.map((sessionId) => ({ sessionId, cwd: "/" })) }),
});
