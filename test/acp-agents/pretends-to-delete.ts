/** Confirms `session/delete`, but still lists the conversation. */
import { answer, serve } from "./rpc.ts";

let conversation: unknown = null;

serve({
  initialize: (message) => {
    const agentCapabilities = { loadSession: true, sessionCapabilities: { delete: {}, list: {} } };
    answer(message, { protocolVersion: 1, agentCapabilities, authMethods: [] });
  },
  "session/delete": (message) => {
    conversation = message.params?.["sessionId"];
    answer(message, {});
  },
  "session/list": (message) => answer(message, { sessions: [{ sessionId: conversation, cwd: "/" }] }),
});
