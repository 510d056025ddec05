/** Ignores SIGTERM, SIGINT, SIGHUP and the end of its input: only SIGKILL stops it. */
import { serve } from "./rpc.ts";

for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => {});
serve({}, () => {});
// Keeps the process alive once stdin has ended.
setInterval(() => {}, 60_000);
