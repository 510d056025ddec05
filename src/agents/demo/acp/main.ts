/** Entry of the bundled demo agent for chats, dist/demo-acp.cjs: ACP over stdin and stdout. */
import { DemoAgent } from "./agent.ts";
import { endTools } from "./tool.ts";

const agent = new DemoAgent({
  env: process.env,
  write: (line) => process.stdout.write(line),
  leave,
});

// Whoever read is gone: nobody is left to talk to. Any other failure (a full disk) lost words, and that is a crash.
process.stdout.on("error", (error: NodeJS.ErrnoException) => leave(error.code === "EPIPE" ? 0 : 1));
process.stdin.on("data", (chunk: Buffer) => agent.client.push(chunk));
process.stdin.on("end", () => leave(0));
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => leave(0));

/** Pipes and files are written at once on POSIX, so everything said is out by now. */
function leave(code: number): void {
  endTools();
  process.exit(code);
}
