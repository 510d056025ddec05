/** The two ways a follower is written to: a WebSocket, and server-sent events. */
import type { ServerResponse } from "node:http";
import type { WebSocket } from "ws";
import { securityHeaders } from "./headers.ts";
import type { Sink } from "./followers.ts";

/** Beats without any sign of life before a WebSocket is given up; its client resumes by cursor, so nothing is lost. */
const maxSilentBeats = 3;

/** Close codes of RFC 6455: going away, policy violation, internal error. */
const closeCodes = { over: 1001, refused: 1008, broken: 1011 } as const;

export function webSocketSink(socket: WebSocket): Sink {
  let pongs = 1;
  let silentBeats = 0;
  let unsentAtLastBeat = 0;
  socket.on("pong", () => pongs++);
  return {
    send: (encoded, sent) => socket.send(encoded.json, { binary: false }, () => sent()),
    bufferedBytes: () => socket.bufferedAmount,
    beat: () => {
      // A slow line answers a ping only after what is queued before it: taking bytes is a sign of life as well.
      const alive = pongs > 0 || socket.bufferedAmount < unsentAtLastBeat;
      silentBeats = alive ? 0 : silentBeats + 1;
      pongs = 0;
      unsentAtLastBeat = socket.bufferedAmount;
      socket.ping();
      return silentBeats < maxSilentBeats;
    },
    close: (why) => socket.close(closeCodes[why]),
    terminate: () => socket.terminate(),
  };
}

export function eventStreamSink(response: ServerResponse): Sink {
  response.writeHead(200, {
    ...securityHeaders,
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-store",
    Connection: "close",
  });
  return {
    send: (encoded, sent) => response.write(encoded.sse, () => sent()),
    bufferedBytes: () => response.writableLength,
    beat: () => {
      // A comment; not more of them on top of what is not taken.
      if (response.writableLength === 0) response.write(":\n\n");
      return true;
    },
    close: () => response.end(),
    terminate: () => response.destroy(),
  };
}
