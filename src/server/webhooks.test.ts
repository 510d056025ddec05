import { connect, type Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { HoldfastError } from "../contract/errors.ts";
import { openTestApi, recordingHandlers } from "./api.fixture.ts";
import { maxRawBodies } from "./body.ts";

describe("webhooks", () => {
  const path = "/api/webhooks/my-app";
  const headers = { authorization: undefined, "content-type": "application/x-www-form-urlencoded" };

  test("[TRACKER-41] need no token and are handed on as the bytes that were signed, whatever they are", async () => {
    const taken: Uint8Array[] = [];
    const seen: unknown[] = [];
    const handlers = recordingHandlers([], {
      webhook: async ({ input: raw }) => {
        await raw.read((piece) => taken.push(piece));
        seen.push(raw.headers["x-hub-signature-256"]);
        return { woken: true };
      },
    });
    const api = await openTestApi({ handlers });
    try {
      const sent = { ...headers, "x-hub-signature-256": "s" };
      const body = Buffer.from([0x7b, 0xff, 0x00, 0x0a]);
      expect((await api.tcp("POST", path, { headers: sent, body })).json).toEqual({ woken: true });
      expect(Buffer.concat(taken)).toEqual(body);
      const huge = { headers: { ...sent, "content-length": String(26 * 1024 * 1024) } };
      expect((await api.tcp("POST", path, huge)).status).toBe(413);
      expect(seen).toEqual(["s"]);
    } finally {
      await api.close();
    }
  });

  test("[LIMIT-4] 480 held posts: nothing is read for a wrong header, and few at a time for one that may be right", async () => {
    let reading = 0;
    let most = 0;
    let read = 0;
    const handlers = recordingHandlers([], {
      webhook: async ({ input: raw }) => {
        if (raw.headers["x-hub-signature-256"] === undefined) throw new HoldfastError("unauthorized", "Not signed.");
        reading++;
        try {
          await raw.read((piece) => {
            most = Math.max(most, reading);
            read += piece.length;
          });
        } finally {
          reading--;
        }
        return { woken: true };
      },
    });
    // Without the limit of connections, which would end most of them.
    const api = await openTestApi({ handlers, strangerLimits: { perPeer: 1000, total: 1000 } });
    const piece = Buffer.alloc(1024);
    const sockets: Socket[] = [];
    const hold = (signature: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(api.port, "127.0.0.1", () => {
          const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${api.port}\r\nContent-Length: 1000000\r\n${signature}\r\n`;
          socket.write(head);
          socket.write(piece);
        });
        sockets.push(socket);
        socket.once("data", (bytes) => resolve(bytes.toString().slice(9, 12)));
        socket.on("error", () => resolve("cut"));
      });
    try {
      const wrong = await Promise.all(Array.from({ length: 480 }, () => hold("")));
      expect(new Set(wrong)).toEqual(new Set(["401"]));
      expect(read).toBe(0);
      // Answered ones are closed by the server.
      await Promise.all(
        sockets
          .filter(({ destroyed }) => !destroyed)
          .map((socket) => new Promise((resolve) => socket.once("close", resolve))),
      );
      const held = Array.from({ length: 480 }, () => hold("X-Hub-Signature-256: s\r\n"));
      const answers: string[] = [];
      for (const each of held) void each.then((status) => answers.push(status));
      await expect.poll(() => answers.length, { timeout: 20_000 }).toBe(480 - maxRawBodies);
      expect(new Set(answers)).toEqual(new Set(["503"]));
      await expect.poll(() => read, { timeout: 20_000 }).toBe(maxRawBodies * piece.length);
      expect(most).toBeLessThanOrEqual(maxRawBodies);
    } finally {
      for (const socket of sockets) socket.destroy();
      await api.close();
    }
  });
});
