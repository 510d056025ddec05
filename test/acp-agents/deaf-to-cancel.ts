/** Begins each turn and never ends it, whatever is asked. */
import { say, serve } from "./rpc.ts";

serve({ "session/prompt": (message) => say(message, "begun"), "session/cancel": () => {} });
