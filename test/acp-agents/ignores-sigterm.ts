/** Takes no notice of SIGTERM, SIGINT, SIGHUP, nor of the end of its input: only SIGKILL ends it. */
import { serve } from "./rpc.ts";

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
serve({}, () => {});
// Keeps the process alive once stdin has ended.
setInterval(() => {}, 60_000);
