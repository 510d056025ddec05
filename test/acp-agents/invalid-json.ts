/** In the middle of a turn it writes lines that are not JSON, or not JSON-RPC, then continues as if nothing had happened. */
import { answer, say, serve } from "./rpc.ts";

const bad = [
  "this is a log line",
  '{"jsonrpc":"2.0","method":"session/upd',
  "[1,2]",
  "null",
  '{"jsonrpc":"2.0"}',
  "\u0000\u0001",
];

serve({
  "session/prompt": (message) => {
    say(message, "before");
    for (const line of bad) process.stdout.write(`${line}\n`);
    process.stdout.write(Buffer.from([0xff, 0xfe, 0xc3, 0x28, 0x0a]));
    say(message, "after");
    answer(message, { stopReason: "end_turn" });
  },
});
