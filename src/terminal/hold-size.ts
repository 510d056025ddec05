/**
 * Keeps a window's size while viewers only watch it. tmux ignores a client with `ignore-size` only while a client without
 * that flag is attached: alone, a watcher would size the window. So each watcher gets such a client, of the size that the
 * window has. It is not in control mode: tmux 3.3a crashes when control clients detach beside other clients.
 */
import { PtyClient } from "./pty-client.ts";
import type { Tmux } from "./tmux.ts";

export interface Hold {
  /** Resolves once its client has exited. */
  release(): Promise<void>;
}

/** @param leaving a client that types and is about to only watch: its own size does not count. */
export async function holdSize(tmux: Tmux, target: string, leaving: string | null): Promise<Hold> {
  const size = await sizeWithout(tmux, target, leaving);
  const client = await PtyClient.start(tmux, target, { ...size, flags: ["read-only"] });
  client.onData(() => undefined);
  try {
    if ((await client.attached()) === null) throw new Error("tmux did not attach");
  } catch (error) {
    await client.end();
    throw error;
  }
  return { release: () => client.end() };
}

/** The size of the client that typed last, or the window's current size. */
async function sizeWithout(
  tmux: Tmux,
  target: string,
  leaving: string | null,
): Promise<{ cols: number; rows: number }> {
  const client = "#{client_name}\t#{client_width}\t#{client_height}\t#{client_activity}\t#{client_flags}";
  const reply = await tmux.run({
    commands: [
      ["display-message", "-p", "-t", target, "#{window_width}\t#{window_height}"],
      ["list-clients", "-t", target, "-F", client],
    ],
  });
  if (reply.is !== "ok") throw new Error("tmux did not report the window's size");
  const [window = [], ...clients] = reply.stdout.split("\n").map((line) => line.split("\t"));
  const typing = clients
    .filter(([name, , , , flags = "read-only"]) => name !== leaving && !/ignore-size|read-only/.test(flags))
    .toSorted((one, other) => Number(other[3]) - Number(one[3]));
  const [cols, rows] = leaving === null || typing[0] === undefined ? window : typing[0].slice(1);
  return { cols: Number(cols), rows: Number(rows) };
}
