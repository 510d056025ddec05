import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { proofHeader, proofProtocol, socketMethod } from "../contract/device-proof.ts";
import { operation, operationNames } from "../contract/operations.ts";
import { includes, rights, type Right } from "../contract/rights.ts";
import { openTestApi, send, type Answer, type TestApi } from "./api.fixture.ts";
import { createChallenges } from "./challenges.ts";
import { ask, enrolled, type TestDevice } from "./device.fixture.ts";

let it: TestApi;
let device: TestDevice;
beforeAll(async () => {
  it = await openTestApi();
});
afterAll(() => it.close());
beforeEach(async () => {
  device = await enrolled(it.access, it.url);
});

const promptPath = "/api/sessions/ma-1/prompts";
const prompt = JSON.stringify({ promptId: "p-1", text: "hello" });
const said = ({ status, json }: Answer): unknown[] => [status, json.error?.code, json.error?.message];
const bySignature = [401, "unauthorized", "The device's signature does not match this request."];
const bySender = (authorization: string, method: string, path: string, body = "", headers = {}): Promise<Answer> => {
  const type = body === "" ? {} : { "content-type": "application/json" };
  const rest = body === "" ? {} : { body };
  return send(
    { host: "127.0.0.1", port: it.port, method, path },
    { headers: { authorization, ...type, ...headers }, ...rest },
  );
};

describe("a signed request", () => {
  test("[DEVICE-1] is let in, with its body", async () => {
    expect((await ask(it, device, "GET", "/api/sessions?project=a")).status).toBe(200);
    expect((await ask(it, device, "POST", promptPath, JSON.parse(prompt))).json).toEqual({ route: "prompt" });
    expect(it.asked.at(-1)?.ask.device).toEqual({ id: device.id, rights: "all" });
    // HEAD is a method of its own.
    expect((await ask(it, device, "HEAD", "/api/info")).status).toBe(200);
  });

  test("[DEVICE-3] a second time is refused, and so is a number from before the window", async () => {
    const header = device.header("GET", "/api/info");
    expect((await bySender(header, "GET", "/api/info")).status).toBe(200);
    expect(said(await bySender(header, "GET", "/api/info"))).toEqual([
      401,
      "unauthorized",
      "This request was sent before.",
    ]);
    device.count = 100_000;
    expect((await ask(it, device, "GET", "/api/info")).status).toBe(200);
    device.count = 50;
    expect(said(await ask(it, device, "GET", "/api/info"))[2]).toBe("This request was sent before.");
  });

  test("[DEVICE-2] requests may overtake each other", async () => {
    const headers = Array.from({ length: 40 }, () => device.header("GET", "/api/info")).toReversed();
    const answers = await Promise.all(headers.map((header) => bySender(header, "GET", "/api/info")));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  });

  test("[DEVICE-3] for another method, address, query or body is refused, and nothing of it is done", async () => {
    const before = it.asked.length;
    const header = () => device.header("POST", promptPath, prompt);
    expect(said(await bySender(header(), "GET", promptPath))).toEqual(bySignature);
    expect(said(await bySender(header(), "POST", "/api/sessions/ma-2/prompts", prompt))).toEqual(bySignature);
    expect(said(await bySender(header(), "POST", `${promptPath}?a=1`, prompt))).toEqual(bySignature);
    const swapped = await bySender(header(), "POST", promptPath, prompt.replace("hello", "rm -rf"));
    expect(said(swapped)).toEqual([401, "unauthorized", "The body is not the one that the device signed."]);
    expect((await bySender(header(), "POST", promptPath)).status).toBe(415);
    const bodyless = device.header("GET", "/api/info", "x");
    expect(said(await bySender(bodyless, "GET", "/api/info"))[2]).toBe(
      "The body is not the one that the device signed.",
    );
    expect(it.asked).toHaveLength(before);
  });

  test("[DEVICE-3] by another device's key, or with a number or challenge put in, is refused", async () => {
    const other = await enrolled(it.access, it.url);
    const stolen = device.proof("GET", "/api/info");
    expect(said(await bySender(proofHeader({ ...stolen, device: other.id }), "GET", "/api/info"))).toEqual(bySignature);
    expect(said(await bySender(proofHeader({ ...stolen, count: 99 }), "GET", "/api/info"))).toEqual(bySignature);
    const fresh = it.access.challenge().nonce;
    expect(said(await bySender(proofHeader({ ...stolen, nonce: fresh }), "GET", "/api/info"))).toEqual(bySignature);
    // A challenge belongs to the device that first used it.
    other.nonce = device.nonce;
    expect(said(await ask(it, other, "GET", "/api/info"))[2]).toBe("This request was sent before.");
    const unknown = proofHeader({ ...stolen, device: "0123456789abcdef" });
    expect(said(await bySender(unknown, "GET", "/api/info"))[1]).toBe("logged-out");
    for (const header of ["Holdfast", "Holdfast device=x", `Holdfast  ${proofHeader(stolen).slice(9)}`, "holdfast x"]) {
      expect((await bySender(header, "GET", "/api/info")).status).toBe(401);
    }
  });

  test("[DEVICE-2] with an expired challenge, or one of another daemon, gets a fresh one that works", async () => {
    const foreign = createChallenges(() => it.now.value).issue();
    for (const stale of [foreign, device.nonce, "x".repeat(43)]) {
      device.nonce = stale;
      if (stale !== foreign) it.now.value += 10 * 60_000;
      const refused = await ask(it, device, "GET", "/api/info");
      expect(said(refused)).toEqual([401, "unauthorized", "The challenge that was signed has expired."]);
      const [nonce = "", lifeMs] = String(refused.headers["holdfast-challenge"]).split(" ");
      expect(lifeMs).toBe("600000");
      device.nonce = nonce;
      expect((await ask(it, device, "GET", "/api/info")).status).toBe(200);
    }
    const old = device.nonce;
    it.now.value -= 5_000;
    device.nonce = old;
    expect(said(await ask(it, device, "GET", "/api/info"))[2]).toContain("has expired");
    it.now.value += 5_000;
  });

  test("[DEVICE-4] holds at the page where the key was enrolled, and for no other", async () => {
    // A page on another port of this machine, with a key that its browser keeps for it, relays to the daemon.
    const squatter = await enrolled(it.access, "http://127.0.0.1:1");
    expect(said(await ask(it, squatter, "GET", "/api/info"))[2]).toContain("logged in at http://127.0.0.1:1");
    // It claims to be the daemon's own page.
    squatter.origin = it.url;
    expect((await ask(it, squatter, "GET", "/api/info")).status).toBe(401);
    // The daemon's own key, used by a page elsewhere.
    device.origin = "http://127.0.0.1:1";
    expect(said(await ask(it, device, "GET", "/api/info"))).toEqual(bySignature);
    device.origin = it.url;
    const elsewhere = { origin: `http://localhost:${it.port}` };
    const header = device.header("GET", "/api/info");
    expect((await bySender(header, "GET", "/api/info", "", elsewhere)).status).toBe(401);
    expect((await ask(it, device, "GET", "/api/info")).status).toBe(200);
  });

  test("[DEVICE-7] proves a WebSocket as a subprotocol, and neither works as the other", async () => {
    const open = (protocol: string, path = "/api/stream", headers = {}): Promise<number | string> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${it.port}${path}`, ["holdfast.v1", protocol], { headers });
        socket.on("open", () => {
          resolve(socket.protocol);
          socket.terminate();
        });
        socket.on("unexpected-response", (_, response) => resolve(response.resume().statusCode ?? 0));
        socket.on("error", () => undefined);
      });
    const proof = device.protocol("/api/stream");
    expect(await open(proof)).toBe("holdfast.v1");
    expect(await open(proof)).toBe(401);
    expect(await open(device.protocol("/api/stream"), "/api/stream?after=0")).toBe(401);
    expect(await open(proofProtocol(device.proof("GET", "/api/stream")))).toBe(401);
    expect(await open("x", "/api/stream", { authorization: device.header("GET", "/api/stream") })).toBe(401);
    const asRequest = proofHeader(device.proof(socketMethod, "/api/info"));
    expect((await bySender(asRequest, "GET", "/api/info")).status).toBe(401);
    expect(await open(`holdfast.device.${device.id}`)).toBe(401);
  });
});

describe("challenges", () => {
  test("[DEVICE-2] are given to anybody and keep nothing; what is used of them is bounded", async () => {
    const answer = await it.tcp("GET", "/api/challenge", { headers: { authorization: undefined } });
    expect(answer.json).toMatchObject({ lifeMs: 600_000, passphrase: null });
    let now = 1_000_000;
    const challenges = createChallenges(() => now);
    const first = challenges.issue();
    expect(challenges.take(first, 0, "a")).toBe("taken");
    now += 1;
    for (let n = 0; n < 256; n++) expect(challenges.take(challenges.issue(), 0, "a")).toBe("taken");
    // The oldest was given up for the newest: it is refused as a whole, not forgotten and taken again.
    expect(challenges.take(first, 0, "a")).toBe("stale");
    expect(challenges.take(first, 1, "a")).toBe("stale");
    expect(challenges.isFresh(first)).toBe(true);
  });
});

describe("rights", () => {
  const paramsOf = (path: string): string => path.replaceAll(/\{\w+\}/g, "x-1");
  const asked = operationNames.map((name) => [name, operation(name)] as const);

  test("[DEVICE-8] each route asks for its right: all routes with all rights, and without any", async () => {
    const devices = new Map<Right, TestDevice>();
    for (const right of rights) devices.set(right, await enrolled(it.access, it.url, right));
    let requests = 0;
    const wrong: string[] = [];
    for (const [name, route] of asked) {
      const needed = route.who.device;
      if (needed === "anyone" || needed === "socket-only") continue;
      for (const [right, each] of devices) {
        // HEAD instead of GET: a stream would not end.
        const method = route.method === "GET" ? "HEAD" : route.method;
        const json = route.input === undefined ? undefined : { nonsense: true };
        const answer = await ask(it, each, method, paramsOf(route.path), json);
        requests++;
        const isRefused = answer.status === 403;
        if (isRefused === includes(right, needed)) wrong.push(`${right} ${name}: ${answer.status}`);
        if (answer.status === 401) wrong.push(`${right} ${name}: 401`);
      }
    }
    console.log(`rights: ${requests} requests, ${wrong.length} unexpected`);
    expect(wrong).toEqual([]);
    expect(requests).toBeGreaterThan(150);
  });

  test("[DEVICE-8] reading needs watch, talking to agents answer, and everything else all", () => {
    const talking = ["prompt", "answer", "cancel", "promptEdit", "primerDismiss"];
    const aboutItself = ["login", "logout", "pushSubscribe", "pushRemove", "pushTest", "webhook"];
    for (const [name, route] of asked) {
      const expected = talking.includes(name)
        ? "answer"
        : route.method === "GET" || aboutItself.includes(name)
          ? "watch"
          : "all";
      const { device } = route.who;
      const needed = device === "anyone" ? "watch" : device === "socket-only" ? "all" : device;
      expect([name, needed]).toEqual([name, expected]);
    }
  });

  test("[DEVICE-8] a refusal says what the device may do and how to change it", async () => {
    const watcher = await enrolled(it.access, it.url, "watch");
    const answer = await ask(it, watcher, "POST", promptPath, JSON.parse(prompt));
    expect(said(answer)).toEqual([403, "forbidden", "This device may only watch; this needs more."]);
    expect(answer.json.error?.hint).toContain(`holdfast device rights ${watcher.id} answer`);
    // Its own way out is open, everybody's is not.
    expect(said(await ask(it, watcher, "POST", "/api/logout", { all: true }))[1]).toBe("forbidden");
    expect((await ask(it, watcher, "POST", "/api/logout", {})).json).toEqual({ revoked: 1 });
    expect((await it.unix("POST", promptPath, { json: JSON.parse(prompt) })).status).toBe(200);
  });

  test("[DEVICE-8] the API's description names the right of each route", async () => {
    const { paths } = (await it.tcp("GET", "/openapi.json")).json as {
      paths?: Record<string, Record<string, Record<string, unknown>>>;
    };
    expect(paths?.["/api/sessions/{id}/prompts"]?.["post"]?.["x-right"]).toBe("answer");
    expect(paths?.["/api/challenge"]?.["get"]?.["x-right"]).toBeUndefined();
  });
});

test("[DEVICE-10] the list marks the device that asks; names and rights are changed, unknown ones are not found", async () => {
  const list = await ask(it, device, "GET", "/api/devices");
  const own = (list.json as unknown as { id: string; isYou: boolean; lastAddress: string }[]).filter(
    ({ isYou }) => isYou,
  );
  expect(own).toMatchObject([{ id: device.id, name: "Chrome on Linux", rights: "all", origin: it.url }]);
  expect((await it.unix("POST", `/api/devices/${device.id}`, { json: { name: "Desk" } })).json).toMatchObject({
    name: "Desk",
    isYou: false,
  });
  expect((await it.unix("POST", `/api/devices/${device.id}`, { json: { rights: "root" } })).status).toBe(400);
  expect(said(await it.unix("DELETE", "/api/devices/0000000000000000"))[1]).toBe("not-found");
  const revoked: unknown[] = [];
  const other = await openTestApi({ onRevoked: async (devices) => void revoked.push(devices) });
  try {
    const gone = await enrolled(other.access, other.url);
    await other.unix("DELETE", `/api/devices/${gone.id}`);
    await other.unix("POST", "/api/logout", { json: { all: true } });
    expect(revoked).toEqual([[gone.id], null]);
  } finally {
    await other.close();
  }
});
