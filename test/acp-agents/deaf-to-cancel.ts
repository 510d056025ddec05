/** Starts each turn and never ends it, whatever the client sends. */
import { say, serve } from "./rpc.ts";

serve({ "session/prompt": (message) => say(message, "begun"), "session/cancel": () => {} });
