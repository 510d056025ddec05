import { afterEach, describe, expect, test } from "vitest";
import { WebSocket, type ClientOptions } from "ws";
import type { Terminals } from "../ports/api.ts";
import type { TerminalView, ViewEnd, ViewRequest } from "../ports/runtime.ts";
import { HoldfastError } from "../contract/errors.ts";
import { asLaunchId } from "../contract/ids.ts";
import { streamProtocol, tokenProtocolPrefix } from "../contract/stream.ts";
import type { Right } from "../contract/rights.ts";
import { openTestApi, type TestApi } from "./api.fixture.ts";
import { ask, enrolled } from "./device.fixture.ts";

let it: TestApi;
const opened: WebSocket[] = [];
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.terminate();
  await it.close();
});

/** Looks again every other millisecond: a test must not wait for its own clock. */
const often = { interval: 2, timeout: 20_000 };

/** A screen that notes what it is told, and opens when the test says so. */
class Screen implements TerminalView {
  readonly launch = asLaunchId("launch-1");
  readonly did: string[] = [];
  sink: { data(bytes: Buffer): void; end: ViewEnd } | null = null;
  start(sink: { data(bytes: Buffer): void; end: ViewEnd }): void {
    this.sink = sink;
  }
  write = (bytes: Buffer): unknown => this.did.push(`typed ${bytes.toString()}`);
  resize = (cols: number, rows: number): unknown => this.did.push(`${cols}x${rows}`);
  watchOnly = (on: boolean): unknown => this.did.push(on ? "watches" : "types");
  pause = (): unknown => this.did.push("pause");
  resume = (): unknown => this.did.push("resume");
  close = (): unknown => this.did.push("close");
}

class Screens implements Terminals {
  readonly asked: {
    session: string;
    request: ViewRequest;
    open: (screen: Screen) => void;
    refuse: (error: Error) => void;
  }[] = [];
  needs: Right = "answer";
  typingNeeds(): Right {
    return this.needs;
  }
  open(session: string, request: ViewRequest): Promise<TerminalView> {
    return new Promise((open, refuse) => this.asked.push({ session, request, open, refuse }));
  }
}

interface Watched {
  socket: WebSocket;
  texts: unknown[];
  bytes: () => string;
  code: () => number | null;
}

const path = "/api/sessions/ma-1/terminal";

function watch(query = "", options: ClientOptions = {}, proof?: string): Watched {
  const headers = proof === undefined ? { authorization: `Bearer ${it.token}` } : {};
  const protocols = proof === undefined ? [] : [streamProtocol, proof];
  const socket = new WebSocket(`ws://127.0.0.1:${it.port}${path}${query}`, protocols, { headers, ...options });
  opened.push(socket);
  socket.on("error", () => undefined);
  const texts: unknown[] = [];
  let bytes = "";
  let code: number | null = null;
  socket.on("message", (data: Buffer, isBinary: boolean) => {
    if (isBinary) bytes += data.toString();
    else texts.push(JSON.parse(data.toString()));
  });
  socket.on("close", (closed) => (code = closed));
  return { socket, texts, bytes: () => bytes, code: () => code };
}

async function attach(query = "", readOnly = false): Promise<Watched & { screen: Screen; screens: Screens }> {
  const screens = new Screens();
  it = await openTestApi({ terminals: screens, readOnly });
  const watched = watch(query);
  await expect.poll(() => screens.asked.length, often).toBe(1);
  const screen = new Screen();
  screens.asked[0]!.open(screen);
  await expect.poll(() => watched.texts.length, often).toBe(1);
  return { ...watched, screen, screens };
}

describe("a terminal", () => {
  test("[TERMINAL-40] says which launch it shows, then gives its bytes, and last why it ended", async () => {
    const { screen, screens, texts, bytes, code } = await attach("?cols=120&rows=40");
    expect(screens.asked[0]).toMatchObject({ session: "ma-1", request: { cols: 120, rows: 40, readonly: false } });
    screen.sink!.data(Buffer.from([0xc3]));
    screen.sink!.data(Buffer.from("\xbc", "latin1"));
    screen.sink!.end("The agent ended.");
    await expect.poll(code, often).toBe(1000);
    expect(Buffer.from(bytes()).length).toBeGreaterThan(0);
    expect(texts).toEqual([
      { type: "attached", launch: "launch-1", readonly: false },
      { type: "detached", reason: "The agent ended." },
    ]);
    expect(screen.did).toEqual(["close"]);
  });

  test("[TERMINAL-41] what is typed before it is attached is dropped; a size that came meanwhile is not", async () => {
    const screens = new Screens();
    it = await openTestApi({ terminals: screens });
    const { socket, texts } = watch();
    await expect.poll(() => screens.asked.length, often).toBe(1);
    await expect.poll(() => socket.readyState, often).toBe(WebSocket.OPEN);
    socket.send(Buffer.from("too early"));
    socket.send(JSON.stringify({ type: "resize", cols: 999, rows: 1 }));
    // Answered behind both messages.
    await new Promise((pong) => {
      socket.once("pong", pong);
      socket.ping();
    });
    const screen = new Screen();
    screens.asked[0]!.open(screen);
    await expect.poll(() => texts.length, often).toBe(1);
    socket.send(Buffer.from("now"));
    await expect.poll(() => screen.did, often).toEqual(["500x2", "typed now"]);
  });

  test("[TERMINAL-41] what is typed after the end goes nowhere", async () => {
    const { screen, socket, code } = await attach();
    screen.sink!.end("over");
    socket.send(Buffer.from("too late"));
    await expect.poll(code, often).toBe(1000);
    expect(screen.did).toEqual(["close"]);
  });

  test("[TERMINAL-41] one who only watches types nothing, until it says otherwise; a read-only daemon never lets it", async () => {
    const { screen, socket, texts } = await attach("?readonly=1");
    expect(texts).toEqual([{ type: "attached", launch: "launch-1", readonly: true }]);
    const say = (message: object): void => socket.send(JSON.stringify(message));
    socket.send(Buffer.from("a"));
    say({ type: "readonly", on: false });
    socket.send(Buffer.from("b"));
    say({ type: "readonly", on: true });
    socket.send(Buffer.from("c"));
    say({ type: "resize", cols: 90, rows: 30 });
    await expect.poll(() => screen.did, often).toEqual(["types", "typed b", "watches", "90x30"]);
    await it.close();

    const locked = await attach("", true);
    expect(locked.texts).toEqual([{ type: "attached", launch: "launch-1", readonly: true }]);
    expect(locked.screens.asked[0]!.request.readonly).toBe(true);
    locked.socket.send(JSON.stringify({ type: "readonly", on: false }));
    locked.socket.send(Buffer.from("d"));
    locked.socket.send(JSON.stringify({ type: "resize", cols: 91, rows: 30 }));
    await expect.poll(() => locked.screen.did, often).toEqual(["91x30"]);
  });

  test("[TERMINAL-44] a viewer that goes closes its screen, also one that is still being opened", async () => {
    const { screen, socket, screens } = await attach();
    socket.terminate();
    await expect.poll(() => screen.did, often).toEqual(["close"]);
    const second = watch();
    await expect.poll(() => screens.asked.length, often).toBe(2);
    second.socket.terminate();
    await expect.poll(second.code, often).not.toBeNull();
    const late = new Screen();
    screens.asked[1]!.open(late);
    await expect.poll(() => late.did, often).toEqual(["close"]);
  });

  test("[TERMINAL-44] a viewer that has gone without a word is given up", async () => {
    const screens = new Screens();
    it = await openTestApi({ terminals: screens, heartbeatMs: 20 });
    const { socket, texts } = watch();
    await expect.poll(() => screens.asked.length, often).toBe(1);
    const screen = new Screen();
    screens.asked[0]!.open(screen);
    await expect.poll(() => texts.length, often).toBe(1);
    socket.pause();
    await expect.poll(() => screen.did, often).toEqual(["close"]);
  });

  test("[TERMINAL-45] a viewer that takes no bytes has its screen held back, and gets the rest later", async () => {
    const { screen, socket, bytes } = await attach();
    socket.pause();
    const chunk = Buffer.alloc(256 * 1024, "x");
    let sent = 0;
    await expect
      .poll(() => {
        if (!screen.did.includes("pause")) {
          screen.sink!.data(chunk);
          sent += chunk.length;
        }
        return screen.did;
      }, often)
      .toEqual(["pause"]);
    socket.resume();
    await expect.poll(() => screen.did, often).toEqual(["pause", "resume"]);
    await expect.poll(() => bytes().length, often).toBe(sent);
  });

  test("[TERMINAL-40] where there is nothing to show it says why", async () => {
    const screens = new Screens();
    it = await openTestApi({ terminals: screens });
    const { texts, code } = watch();
    await expect.poll(() => screens.asked.length, often).toBe(1);
    screens.asked[0]!.refuse(new HoldfastError("conflict", "ma-1 is not running."));
    await expect.poll(code, often).toBe(1000);
    expect(texts).toEqual([{ type: "detached", reason: "ma-1 is not running." }]);
    const broken = watch();
    await expect.poll(() => screens.asked.length, often).toBe(2);
    screens.asked[1]!.refuse(new Error("innards"));
    await expect.poll(broken.code, often).toBe(1000);
    expect(broken.texts).toEqual([{ type: "detached", reason: "The screen cannot be shown." }]);
    expect(it.logged.some(({ message }) => message === "a terminal could not be opened")).toBe(true);
  });

  test("[TERMINAL-46] stands behind the same gate as the stream", async () => {
    const screens = new Screens();
    it = await openTestApi({ terminals: screens });
    const refused = (query: string, options: ClientOptions): Promise<number> =>
      new Promise((resolve) => {
        const { socket } = watch(query, options);
        socket.on("unexpected-response", (request, response) => {
          resolve(response.statusCode ?? 0);
          request.destroy();
        });
        socket.on("open", () => resolve(101));
      });
    const headers = { authorization: `Bearer ${it.token}` };
    expect(await refused("", { headers: {} })).toBe(401);
    expect(await refused("", { headers: { ...headers, host: "elsewhere:1" } })).toBe(421);
    expect(await refused("", { headers, origin: "http://elsewhere" })).toBe(403);
    expect(await refused("?cols=1", {})).toBe(400);
    expect(await refused("?rows=501", {})).toBe(400);
    expect(await refused("?readonly=maybe", {})).toBe(400);
    expect(await refused("?colour=red", {})).toBe(400);
    const unix = new WebSocket(`ws+unix:${it.socket}:/api/sessions/ma-1/terminal`, {
      headers: { "holdfast-actor": "session:ma-2" },
    });
    opened.push(unix);
    const said = await new Promise<string>((resolve) => unix.on("error", (error) => resolve(error.message)));
    expect(said).toBe("Unexpected server response: 403");
    expect(screens.asked).toEqual([]);
    const protocols = [streamProtocol, tokenProtocolPrefix + it.token];
    const socket = new WebSocket(`ws://127.0.0.1:${it.port}/api/sessions/ma-1/terminal`, protocols);
    opened.push(socket);
    await expect.poll(() => screens.asked.length, often).toBe(1);
    await expect.poll(() => socket.protocol, often).toBe(streamProtocol);
    expect((await it.tcp("GET", "/api/sessions/ma-1/terminal")).json.error?.message).toContain("WebSocket");
  });

  test("[TERMINAL-46] messages that it does not know, and those over 64 KiB, end it", async () => {
    const { screen, socket, texts, code } = await attach();
    socket.send(Buffer.alloc(64 * 1024, "y"));
    await expect.poll(() => screen.did.length, often).toBe(1);
    socket.send("not json");
    await expect.poll(code, often).toBe(1007);
    expect(texts.at(-1)).toMatchObject({ type: "detached" });
    await it.close();
    const second = await attach();
    second.socket.send(Buffer.alloc(64 * 1024 + 1));
    await expect.poll(second.code, often).toBe(1009);
    expect(second.screen.did).toEqual(["close"]);
  });

  test("[TERMINAL-46] a browser that is logged out loses its terminals, and a stop tells all of them", async () => {
    const screens = new Screens();
    it = await openTestApi({ terminals: screens });
    const device = await enrolled(it.access, it.url);
    const browser = watch("", {}, device.protocol(path));
    const other = watch();
    await expect.poll(() => screens.asked.length, often).toBe(2);
    await ask(it, device, "POST", "/api/logout", {});
    await expect.poll(browser.code, often).toBe(1008);
    expect(other.code()).toBeNull();
    await it.close();
    expect(other.texts).toEqual([{ type: "detached", reason: "The daemon is stopping; the agent keeps running." }]);
    await expect.poll(other.code, often).toBe(1001);
  });

  test("[DEVICE-8] a device that may only watch does not type, whatever it asks for; one that may answer does, but not in a shell", async () => {
    const screens = new Screens();
    it = await openTestApi({ terminals: screens });
    for (const [rights, needs, typed] of [
      ["watch", "answer", []],
      ["answer", "answer", ["typed y"]],
      ["answer", "all", []],
      ["all", "all", ["typed y"]],
    ] as const) {
      screens.needs = needs;
      const device = await enrolled(it.access, it.url, rights);
      const { socket, texts } = watch("", {}, device.protocol(path));
      await expect.poll(() => screens.asked.length, often).toBe(1);
      const { request, open } = screens.asked.pop()!;
      expect(request.readonly).toBe(typed.length === 0);
      const screen = new Screen();
      open(screen);
      await expect.poll(() => texts.length, often).toBe(1);
      socket.send(JSON.stringify({ type: "readonly", on: false }));
      socket.send(Buffer.from("y"));
      socket.send(JSON.stringify({ type: "resize", cols: 90, rows: 30 }));
      await expect.poll(() => screen.did.at(-1), often).toBe("90x30");
      expect(screen.did.filter((each) => each !== "90x30")).toEqual(typed);
    }
  });
});
