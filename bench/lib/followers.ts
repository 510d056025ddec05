/** Cheap WebSocket clients of a running daemon: they only store messages and parse them afterwards. */
import { readFileSync } from "node:fs";
import { WebSocket } from "ws";
import type { DaemonFile } from "../../src/base/launch-options.ts";
import type { BenchHome } from "./home.ts";

export interface Received {
  /** CLOCK_MONOTONIC in nanoseconds, the clock of the agents' stamps. */
  at: bigint;
  message: Buffer;
}

export interface BenchFollowers extends Disposable {
  /** Resolves when every follower has received the end of a turn, with the first one's messages and their times. */
  turn(): Promise<Received[]>;
}

const turnEnded = Buffer.from('"type":"turn.ended"');
const deadlineMs = 60_000;

export async function follow(home: BenchHome, count: number): Promise<BenchFollowers> {
  const { url } = JSON.parse(readFileSync(home.paths.daemonFile, "utf8")) as DaemonFile;
  const token = readFileSync(home.paths.token, "utf8").trim();
  const stream = `${url.replace(/^http/, "ws").replace(/\/$/, "")}/api/stream`;
  let received: Received[] = [];
  let ended: (() => void)[] = [];
  const sockets = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const socket = new WebSocket(stream, {
        headers: { authorization: `Bearer ${token}` },
        perMessageDeflate: false,
        // Validation costs the client a pass over every byte, and the text is never displayed.
        skipUTF8Validation: true,
      });
      await new Promise((resolve, reject) => socket.once("message", resolve).once("error", reject));
      socket.on("message", (message: Buffer) => {
        if (index === 0) received.push({ at: process.hrtime.bigint(), message });
        if (message.includes(turnEnded)) ended[index]?.();
      });
      return socket;
    }),
  );
  return {
    async turn() {
      received = [];
      const all = sockets.map(
        (_, index) =>
          new Promise<void>((resolve) => {
            ended[index] = resolve;
          }),
      );
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error("the turn did not end")), deadlineMs);
      });
      await Promise.race([Promise.all(all), late]).finally(() => clearTimeout(timer));
      return received;
    },
    [Symbol.dispose]() {
      ended = [];
      for (const socket of sockets) socket.terminate();
    },
  };
}
