/** Knows no session of an earlier process. FORGETS_WITH: the code it says so with, -32002 unless told. */
import { refuse, serve } from "./rpc.ts";

serve({
  "session/load": (message) => refuse(message, Number(process.env["FORGETS_WITH"] ?? -32002), "Resource not found"),
});
