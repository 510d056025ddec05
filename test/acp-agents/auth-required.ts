/** Opens no session before the user has signed in, which a client cannot do. */
import { answer, refuse, serve } from "./rpc.ts";
import type { Message } from "./rpc.ts";

const refuseToOpen = (message: Message): void => refuse(message, -32000, "Authentication required");

serve({
  initialize: (message) =>
    answer(message, {
      protocolVersion: 1,
      agentCapabilities: { loadSession: true },
      authMethods: [{ id: "login", name: "Log in", description: "Run the agent's own login in a terminal" }],
    }),
  "session/new": refuseToOpen,
  "session/load": refuseToOpen,
});
