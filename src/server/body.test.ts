import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HoldfastError } from "../contract/errors.ts";
import { operation, operationNames } from "../contract/operations.ts";
import { openTestApi, recordingHandlers, type TestApi } from "./api.fixture.ts";
import { ask, enrolled, TestDevice } from "./device.fixture.ts";

const limit = 200_000;
let it: TestApi;
let signal: AbortSignal | undefined;
let release: () => void = () => undefined;
beforeAll(async () => {
  const handlers = recordingHandlers([], {
    projects: () => {
      throw new HoldfastError("conflict", "Said no.", { hint: "Say yes." });
    },
    trash: () => {
      throw new Error("secret path /home/someone");
    },
    doctor: (ask) => {
      signal = ask.signal;
      return new Promise((resolve) => (release = () => resolve([])));
    },
    prompt: (ask) => ask.input as never,
  });
  it = await openTestApi({ bodyLimitBytes: limit, handlers });
});
afterAll(async () => {
  release();
  await it.close();
});

const promptPath = "/api/sessions/ma-1/prompts";

test("[API-21] a text/plain POST, a form and a POST without a type are refused", async () => {
  for (const type of [
    "text/plain",
    "application/x-www-form-urlencoded",
    "application/json; charset=latin1",
    undefined,
  ]) {
    const answer = await it.tcp("POST", promptPath, { body: "{}", headers: { "content-type": type } });
    expect(answer.status).toBe(415);
    expect(answer.json.error).toMatchObject({
      code: "unsupported-media-type",
      message: `Writes must be application/json, ${type === undefined ? "and this one has no content type" : `not "${type}"`}.`,
    });
  }
});

test("[API-6] a body over the limit is refused with 413 by its announced length, and the answer arrives", async () => {
  const answer = await it.tcp("POST", promptPath, { json: { promptId: "p", text: "x".repeat(5_000_000) } });
  expect(answer.status).toBe(413);
  expect(answer.json.error?.message).toBe(`The body exceeds the limit of ${limit} bytes.`);
  expect(answer.headers.connection).toBe("close");
});

test("[API-6] a sender that reads only after it has sent everything still gets the answer", async () => {
  const body = Buffer.alloc(5_000_000, 0x20);
  const head = `POST ${promptPath} HTTP/1.1\r\nHost: 127.0.0.1:${it.port}\r\nAuthorization: Bearer ${it.token}\r\n`;
  const socket = connect(it.port, "127.0.0.1");
  socket.pause();
  const text = await new Promise<string>((resolve, reject) => {
    let received = "";
    socket.on("data", (part) => (received += part.toString()));
    socket.on("error", reject);
    socket.on("end", () => resolve(received));
    socket.write(`${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body, () => socket.resume());
  });
  socket.destroy();
  expect(text).toMatch(/^HTTP\/1\.1 413 /);
});

test("[API-6] a body that grows over the limit unannounced is refused while it comes", async () => {
  const answer = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${it.token}`, "content-type": "application/json" };
    const target = { host: "127.0.0.1", port: it.port, method: "POST", path: promptPath, headers, agent: false };
    const request = httpRequest(target, (response) => {
      let text = "";
      response.on("data", (part: Buffer) => (text += part.toString()));
      response.on("end", () => {
        clearInterval(pump);
        resolve({ status: response.statusCode ?? 0, text });
        request.destroy();
      });
    });
    request.on("error", reject);
    // Never ends by itself: only the refusal can end it.
    const pump = setInterval(() => request.write("x".repeat(50_000)), 1);
  });
  expect(answer.status).toBe(413);
  expect(answer.text).toContain("The body exceeds the limit");
});

test("[API-6] whoever has no token may send 16 KiB only", async () => {
  const headers = { authorization: undefined };
  const answer = await it.tcp("POST", "/api/login", { json: { code: "x".repeat(20_000) }, headers });
  expect(answer.json.error?.message).toBe("The body exceeds the limit of 16384 bytes.");
});

test("[API-6] a client that waits for 100-continue is refused before it sends", async () => {
  const answer = await new Promise<{ status: number; invited: boolean }>((resolve, reject) => {
    let invited = false;
    const headers = { expect: "100-continue", "content-length": "9000000", "content-type": "application/json" };
    const request = httpRequest({ socketPath: it.socket, method: "POST", path: promptPath, headers, agent: false });
    request.on("continue", () => (invited = true));
    request.on("response", (response) => {
      resolve({ status: response.statusCode ?? 0, invited });
      request.destroy();
    });
    request.on("error", reject);
    request.flushHeaders();
  });
  expect(answer).toEqual({ status: 413, invited: false });
});

test("[API-6] a client that waits for 100-continue is invited when its body is wanted", async () => {
  const body = JSON.stringify({ promptId: "p1", text: "hello" });
  const status = await new Promise<number>((resolve, reject) => {
    const headers = { expect: "100-continue", "content-length": body.length, "content-type": "application/json" };
    const request = httpRequest({ socketPath: it.socket, method: "POST", path: promptPath, headers, agent: false });
    request.on("continue", () => request.end(body));
    request.on("response", (response) => resolve(response.resume().statusCode ?? 0));
    request.on("error", reject);
    request.flushHeaders();
  });
  expect(status).toBe(200);
});

test("[API-9] malformed JSON is refused with its position", async () => {
  const headers = { "content-type": "application/json" };
  const answer = await it.tcp("POST", promptPath, { body: '{"promptId": "a",\n "text" "b"}', headers });
  expect(answer.status).toBe(400);
  expect(answer.json.error).toMatchObject({
    code: "malformed-json",
    message: expect.stringMatching(/^The body is not valid JSON: Expected ':' .*\(line 2 column 9\)\.$/) as string,
  });
});

test.each([
  "xyz",
  "{a}",
  '{"a":1,}',
  '{"a" 1}',
  '{"a":1 "b":2}',
  '{\n  "a": tru\n}',
  "[1,",
  "[1]]",
  '"abc',
  '"a\\x"',
  '"a\nb"',
  "01",
])("[API-9] %j is refused as malformed JSON", async (body) => {
  const answer = await it.tcp("POST", promptPath, { body, headers: { "content-type": "application/json" } });
  expect(answer.status).toBe(400);
  expect(answer.json.error).toMatchObject({
    code: "malformed-json",
    message: expect.stringMatching(/^The body is not valid JSON: \S.*\.$/s) as string,
  });
});

test("[API-9] a body of open brackets does not exhaust the stack", async () => {
  const headers = { "content-type": "application/json" };
  const answer = await it.tcp("POST", promptPath, { body: "[".repeat(limit), headers });
  expect(answer.json.error).toMatchObject({ code: "malformed-json" });
});

test("[API-9] a body that is not UTF-8 is refused", async () => {
  const headers = { "content-type": "application/json" };
  const answer = await it.tcp("POST", promptPath, { body: Buffer.from([0x22, 0xff, 0x22]), headers });
  expect(answer.json.error).toMatchObject({ code: "malformed-json", message: "The body is not UTF-8." });
});

const invalid: [unknown, string][] = [
  [{ promptId: "a", text: "b", txet: 1 }, 'the body: Unrecognized key: "txet"'],
  [{ promptId: "a" }, "text: Invalid input: expected string, received undefined"],
  [{ promptId: "a", text: "" }, "text: Too small: expected string to have >=1 characters"],
  [{ promptId: "a b", text: "c" }, "promptId: Invalid string: must match pattern /^[A-Za-z0-9_.:-]{1,128}$/"],
  [{ promptId: "a", text: "b", waitMs: -1 }, "waitMs: Too small: expected number to be >=0"],
  [{ promptId: "a", text: "b", waitMs: "1" }, "waitMs: Invalid input: expected number, received string"],
  [[], "the body: Invalid input: expected object, received array"],
  [null, "the body: Invalid input: expected object, received null"],
];
test.each(invalid)("[API-10] %j is refused: %s", async (json, sentence) => {
  const answer = await it.tcp("POST", promptPath, { json });
  expect(answer.status).toBe(400);
  expect(answer.json.error).toMatchObject({ code: "invalid", message: `The request is not valid: ${sentence}.` });
});

test("[API-10] a body on a route that takes none is refused", async () => {
  const answer = await it.tcp("DELETE", "/api/projects/a", { json: { a: 1 } });
  expect(answer.json.error).toMatchObject({ code: "invalid", message: "DELETE does not accept a body here." });
});

test("[API-10] an empty JSON body counts as an empty object", async () => {
  const answer = await it.tcp("POST", "/api/sessions/ma-1/stop", { headers: { "content-type": "application/json" } });
  expect(answer.json).toEqual({ route: "stop" });
});

test("[API-11] a handler's refusal arrives with its code, message, hint and status", async () => {
  const answer = await it.tcp("GET", "/api/projects");
  expect(answer.status).toBe(409);
  expect(answer.json).toEqual({ error: { code: "conflict", message: "Said no.", hint: "Say yes." } });
});

test("[API-11] a bug answers 500 without its innards, which stand in the log", async () => {
  const answer = await it.tcp("GET", "/api/trash");
  expect(answer.status).toBe(500);
  expect(answer.json.error?.message).toBe("Something went wrong inside the daemon.");
  expect(answer.text).not.toContain("secret path");
  const entry = it.logged.findLast((each) => each.level === "error");
  expect(entry).toMatchObject({ message: "request failed", fields: { method: "GET", path: "/api/trash" } });
  expect(String(entry?.fields?.["cause"])).toContain("secret path /home/someone");
});

test("[API-12] a handler learns that its client has gone", async () => {
  const headers = { authorization: `Bearer ${it.token}` };
  const request = httpRequest({ host: "127.0.0.1", port: it.port, path: "/api/doctor", headers, agent: false });
  request.on("error", () => undefined);
  request.end();
  await expect.poll(() => signal, { interval: 2 }).toBeDefined();
  expect(signal?.aborted).toBe(false);
  request.destroy();
  await expect.poll(() => signal?.aborted, { interval: 2 }).toBe(true);
});

test("[API-13] a read-only daemon reads, logs in, and changes nothing", async () => {
  const readOnly = await openTestApi({ readOnly: true });
  try {
    const answer = await readOnly.tcp("POST", promptPath, { json: { promptId: "a", text: "b" } });
    expect(answer.status).toBe(403);
    expect(answer.json.error).toMatchObject({
      code: "read-only",
      message: "This daemon is read-only; nothing can be changed.",
    });
    const refused = async (method: string, path: string, json?: object): Promise<unknown> =>
      (await readOnly.tcp(method, path, json === undefined ? {} : { json })).json.error?.code;
    expect(await refused("DELETE", "/api/projects/a")).toBe("read-only");
    expect(await refused("DELETE", "/api/push/a")).toBe("read-only");
    expect(await refused("POST", "/api/daemon/stop", {})).toBe("read-only");
    expect(await refused("POST", "/api/logout", { all: true })).toBe("read-only");
    expect((await readOnly.tcp("GET", "/api/sessions")).status).toBe(200);
    const link = await readOnly.unix("POST", "/api/login-link", { json: {} });
    const code = /#login=(.+)$/.exec(String(link.json["url"]))?.[1] ?? "";
    const device = new TestDevice(readOnly.url);
    device.nonce = readOnly.access.challenge().nonce;
    const login = { json: device.byCode(code, device.nonce), headers: { origin: readOnly.url } };
    expect((await readOnly.tcp("POST", "/api/login", login)).status).toBe(200);
    expect((await ask(readOnly, device, "POST", "/api/logout", {})).status).toBe(200);
    const other = await enrolled(readOnly.access, readOnly.url);
    expect((await ask(readOnly, other, "DELETE", `/api/devices/${other.id}`)).json.error?.code).toBe("read-only");
    expect((await readOnly.unix("DELETE", `/api/devices/${other.id}`)).status).toBe(200);
    expect((await readOnly.unix("POST", "/api/daemon/stop", { json: {} })).status).toBe(200);
    expect((await readOnly.unix("POST", "/api/daemon/stop", { json: { haltSessions: false } })).status).toBe(200);
    const halt = await readOnly.unix("POST", "/api/daemon/stop", { json: { haltSessions: true } });
    expect(halt.status).toBe(403);
    expect(halt.json.error?.code).toBe("read-only");
    expect(readOnly.asked.map(({ route }) => route)).toEqual(["sessions", "daemonStop", "daemonStop"]);
  } finally {
    await readOnly.close();
  }
});

test("[LIMIT-8] every route that changes something is refused by a read-only daemon, but for those that say why not", async () => {
  const all = operationNames.map((name) => [name, { ...operation(name), ...operation(name).who }] as const);
  const changing = all.filter(([, route]) => route.method !== "GET");
  const exempt = changing.filter(([, { whileReadOnly }]) => whileReadOnly !== undefined);
  expect(exempt.map(([name]) => name).toSorted()).toEqual([
    "daemonStop",
    "deviceRevoke",
    "login",
    "loginLink",
    "logout",
    "preflight",
    "tokenRotate",
    "webhook",
  ]);
  for (const [, { whileReadOnly }] of exempt) expect(whileReadOnly?.why).toMatch(/^[A-Z].{20,}\.$/);
  const readOnly = await openTestApi({ readOnly: true });
  try {
    for (const [name, { method, path, whileReadOnly, device }] of changing) {
      if (whileReadOnly !== undefined && whileReadOnly.via === undefined) continue;
      if (device === "socket-only") continue;
      const answer = await readOnly.tcp(method, path.replaceAll(/\{[a-z]+\}/g, "a"), { json: {} });
      expect([name, answer.json.error?.code]).toEqual([name, "read-only"]);
    }
    expect(readOnly.asked).toEqual([]);
  } finally {
    await readOnly.close();
  }
});
