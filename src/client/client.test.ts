import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HoldfastError } from "../contract/errors.ts";
import { createClient, pathOf, type Client } from "./client.ts";
import { createFetchTransport } from "./fetch-transport.ts";

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: Record<string, unknown>;
  body: string;
}

let server: Server;
let client: Client;
let seen: Seen[];
let answer: { status: number; text: string };
let token: string | null;
let url: string;

beforeEach(async () => {
  seen = [];
  answer = { status: 200, text: "{}" };
  token = null;
  server = createServer((request, response) => {
    let body = "";
    request.on("data", (part: Buffer) => (body += part.toString()));
    request.on("end", () => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      response.writeHead(answer.status, answer.status === 302 ? { location: "/elsewhere" } : {}).end(answer.text);
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = createClient({ transport: createFetchTransport(url, fetch), token: () => token });
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => "answered",
    (error: unknown) => error,
  );

describe("call", () => {
  test("[API-38] sends method, escaped path, query and token of a route, and no body on a read", async () => {
    token = "secret";
    answer.text = "[]";
    expect(await client.call("events", { params: { id: "a/b" }, query: { since: 3, limit: undefined } })).toEqual([]);
    expect(seen[0]).toMatchObject({ method: "GET", url: "/api/sessions/a%2Fb/events?since=3", body: "" });
    expect(seen[0]?.headers["authorization"]).toBe("Bearer secret");
  });

  test("[API-38] sends a write as JSON, an empty object where nothing is said", async () => {
    await client.call("snooze", { params: { id: "ma-1" }, body: { forMs: 1000 } });
    await client.call("kill", { params: { id: "ma-1" } });
    expect(seen.map((each) => each.body)).toEqual(['{"forMs":1000}', "{}"]);
    expect(seen[0]?.headers["content-type"]).toBe("application/json");
    expect(seen[0]?.headers["authorization"]).toBeUndefined();
  });

  test("[SESSION-11] a request that is given a name carries it as a header, which an older daemon leaves alone", async () => {
    await client.call("spawn", { body: { project: "my-app" }, requestId: "12-7" });
    expect(seen[0]).toMatchObject({ url: "/api/sessions", body: '{"project":"my-app"}' });
    expect(seen[0]?.headers["holdfast-request"]).toBe("12-7");
  });

  test("[API-38] a missing or empty parameter is a bug, not another route", () => {
    const route = { method: "GET", path: "/api/sessions/{id}", summary: "", answer: "" } as const;
    expect(() => pathOf(route, {}, {})).toThrow("/api/sessions/{id} needs id");
    expect(() => pathOf(route, { id: "" }, {})).toThrow("needs id");
  });

  test("[API-39] the daemon's error comes back with its code, message and hint", async () => {
    const details = { reason: "verb-refused", session: "ma-1" };
    answer = {
      status: 409,
      text: JSON.stringify({ error: { code: "conflict", message: "No.", hint: "Yes.", details } }),
    };
    const error = await failure(client.call("info"));
    expect(error).toBeInstanceOf(HoldfastError);
    expect(error).toMatchObject({ code: "conflict", message: "No.", hint: "Yes.", details });
  });

  test("[API-39] a code of a newer daemon is taken as internal, its words kept", async () => {
    answer = { status: 418, text: JSON.stringify({ error: { code: "teapot", message: "Short and stout." } }) };
    expect(await failure(client.call("info"))).toMatchObject({ code: "internal", message: "Short and stout." });
  });

  test("[API-39] another program's answer is told apart", async () => {
    const notOurs = {
      code: "unreachable",
      message: "The server that responded (status 200) is not a Holdfast daemon.",
    };
    answer = { status: 200, text: "<html>" };
    expect(await failure(client.call("info"))).toMatchObject(notOurs);
    answer = { status: 404, text: '{"message":"no"}' };
    expect(await failure(client.call("info"))).toMatchObject({ code: "unreachable" });
  });

  test("[API-39] nothing there is unreachable, with its cause", async () => {
    const gone = createClient({ transport: createFetchTransport("http://127.0.0.1:1", fetch) });
    const error = await failure(gone.call("info"));
    expect(error).toMatchObject({
      code: "unreachable",
      message: expect.stringMatching(/^The daemon did not respond: /),
    });
    expect((error as Error).cause).toBeInstanceOf(Error);
  });

  test("[API-39] a redirect is not followed: the token stays here", async () => {
    answer = { status: 302, text: "" };
    expect(await failure(client.call("info"))).toMatchObject({ code: "unreachable" });
    expect(seen).toHaveLength(1);
  });

  test("[API-39] a call that is given up rejects as given up", async () => {
    const abort = new AbortController();
    abort.abort();
    expect(await failure(client.call("info", { signal: abort.signal }))).toMatchObject({ name: "AbortError" });
  });
});
