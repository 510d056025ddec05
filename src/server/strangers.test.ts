import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { openTestApi, type TestApi } from "./api.fixture.ts";
import { createStrangers, peerOf } from "./strangers.ts";

describe("[LIMIT-1] connections without a credential", () => {
  /** As much of a socket as is asked of it. */
  function peer(address: string, port: number): Socket & { isGone: boolean } {
    const made = { remoteAddress: address, remotePort: port, isGone: false, once: () => made, destroy: () => made };
    made.destroy = () => {
      made.isGone = true;
      return made;
    };
    return made as unknown as Socket & { isGone: boolean };
  }

  function open(peers: Map<number, number> = new Map()) {
    const clock = { now: 0 };
    const strangers = createStrangers({
      port: () => 4710,
      limits: { perPeer: 3, total: 6, idleMs: 10, requestMs: 60 },
      now: () => clock.now,
      peers: () => peers,
    });
    return { strangers, clock };
  }

  test("of one address are few: the oldest idle one goes, not the newest, nor one that is being answered", () => {
    const { strangers } = open();
    const all = [1, 2, 3, 4, 5].map((port) => peer("203.0.113.7", port));
    strangers.add(all[0]!);
    strangers.asks(all[0]!);
    for (const each of all.slice(1)) strangers.add(each);
    expect(all.map(({ isGone }) => isGone)).toEqual([false, true, true, false, false]);
    strangers.close();
  });

  test("of all are few: the largest group loses one", () => {
    const { strangers } = open();
    const first = peer("198.51.100.1", 1);
    strangers.add(first);
    for (const net of [1, 2, 3]) for (const port of [1, 2, 3]) strangers.add(peer(`203.0.113.${net}`, port));
    expect(strangers.size).toBe(6);
    expect(first.isGone).toBe(false);
    strangers.close();
  });

  test("on loopback are counted by user: many addresses of 127.0.0.0/8 do not help, another user is not touched", () => {
    const { strangers, clock } = open(
      new Map([...[1, 2, 3, 4, 5, 6].map((port) => [port, 1001] as const), [100, 1000]]),
    );
    const own = peer("127.0.0.1", 100);
    strangers.add(own);
    const others = [1, 2, 3, 4, 5, 6].map((port) => peer(`127.0.0.${port}`, port));
    for (const each of others) {
      // Long enough for the kernel's table to be read again.
      clock.now += 1000;
      strangers.add(each);
    }
    expect(own.isGone).toBe(false);
    expect(others.filter(({ isGone }) => !isGone).length).toBeLessThanOrEqual(3);
    strangers.close();
  });

  test("have no limit once a credential was seen", () => {
    const { strangers } = open();
    const known = peer("203.0.113.7", 1);
    strangers.add(known);
    strangers.proven(known);
    for (const port of [2, 3, 4, 5, 6, 7]) strangers.add(peer("203.0.113.7", port));
    expect(known.isGone).toBe(false);
    strangers.close();
  });

  test("an address is one peer, and so is a /64 of IPv6 and this machine", () => {
    expect(peerOf("::ffff:203.0.113.7")).toBe("203.0.113.7");
    expect(peerOf("2001:db8:1:2:3:4:5:6")).toBe(peerOf("2001:db8:1:2::9"));
    expect(peerOf("2001:db8::1")).toBe("2001:db8:0:0::/64");
    expect(peerOf("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
    expect([peerOf("127.0.0.1"), peerOf("127.3.3.3"), peerOf("::1")]).toEqual(["local", "local", "local"]);
  });
});

describe("an attack on the port", () => {
  const opened: Socket[] = [];
  let it: TestApi;
  afterEach(async () => {
    for (const socket of opened.splice(0)) socket.destroy();
    await it.close();
  });

  /** A connection from another address, with what it sends first. */
  function from(address: string, text: string): Promise<Socket> {
    return new Promise((resolve) => {
      const socket = connect({ host: "127.0.0.1", port: it.port, localAddress: address }, () => {
        socket.write(text);
        resolve(socket);
      });
      socket.on("error", () => resolve(socket));
      opened.push(socket);
    });
  }

  test("[LIMIT-2] 560 half-open connections leave the dashboard 30 of 30 answers", async () => {
    it = await openTestApi();
    await Promise.all(Array.from({ length: 560 }, () => from("127.0.0.2", "GET / HTTP/1.1\r\nHost: 127")));
    const answers = [];
    for (let n = 0; n < 30; n++) {
      answers.push((await it.tcp("GET", "/api/sessions")).status);
      // They come back at once.
      await Promise.all(Array.from({ length: 20 }, () => from("127.0.0.2", "GET / HTTP/1.1\r\nHost: 127")));
    }
    expect(answers).toEqual(Array.from({ length: 30 }, () => 200));
  });

  test("[LIMIT-1] a connection that asks nothing, or too slowly, is closed; one with a credential is not", async () => {
    it = await openTestApi({ strangerLimits: { idleMs: 0 } });
    const known = await from(
      "127.0.0.1",
      `GET /api/sessions HTTP/1.1\r\nHost: 127.0.0.1:${it.port}\r\nAuthorization: Bearer ${it.token}\r\n\r\n`,
    );
    await new Promise((resolve) => known.once("data", resolve));
    const slow = await from("127.0.0.1", "GET /api/sessions HTTP/1.1\r\n");
    const closed = new Promise((resolve) => slow.once("close", resolve));
    slow.resume();
    await closed;
    known.write(`GET /api/info HTTP/1.1\r\nHost: 127.0.0.1:${it.port}\r\nAuthorization: Bearer ${it.token}\r\n\r\n`);
    const answer = await new Promise<string>((resolve) => known.once("data", (bytes) => resolve(bytes.toString())));
    expect(answer).toContain("200 OK");
  });
});
