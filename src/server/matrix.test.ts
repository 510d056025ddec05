import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { callerOf } from "../supervisor/callers/identify-caller.ts";
import { createAuthorize } from "../api/authorize.ts";
import type { Callers } from "../ports/api.ts";
import { capabilityHeader } from "../contract/caller.ts";
import { proofHeader } from "../contract/device-proof.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { OperationName } from "../contract/operations.ts";
import { streamProtocol } from "../contract/stream.ts";
import { asLaunchId } from "../contract/ids.ts";
import type { Right } from "../contract/rights.ts";
import type { SessionState } from "../model/session.ts";
import { openTestApi, recordingHandlers, trustingCallers, type TestApi } from "./api.fixture.ts";
import { enrolled, TestDevice } from "./device.fixture.ts";
import {
  runMatrix,
  type Asking,
  type Covered,
  type Credential,
  type Expected,
  type MatrixApi,
} from "./matrix.fixture.ts";

/** Routes whose sample body cannot work: nothing vouches for the key. */
const neverWorks = new Set<OperationName>(["login"]);
/** They name no device that exists: behind the gate they are 404. */
const ofDevice = new Set<OperationName>(["deviceEdit", "deviceRevoke"]);

const forAnyone = ({ name, route }: Asking): Expected => {
  if (neverWorks.has(name)) return "refused";
  return route.who.device === "anyone" ? "reached" : [401];
};

const forPerson = ({ name, route }: Asking): Expected => {
  if (neverWorks.has(name)) return "refused";
  if (ofDevice.has(name)) return [404];
  return route.who.device === "socket-only" ? [404] : "reached";
};

/** What devices may do besides reading, by name: written out, so that a route that becomes open to them is seen here. */
const answering = new Set<OperationName>(["prompt", "answer", "cancel", "primerDismiss", "promptEdit"]);
const watching = new Set<OperationName>(["login", "logout", "webhook", "pushSubscribe", "pushRemove", "pushTest"]);

const forDevice =
  (rights: Right) =>
  (asking: Asking): Expected => {
    const { name, route } = asking;
    const may = rights === "all" || route.method === "GET" || watching.has(name);
    if (may || (rights === "answer" && answering.has(name))) return forPerson(asking);
    return route.who.device === "socket-only" ? [404] : [403];
  };

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** A browser cannot set a header for a WebSocket: there its proof is a subprotocol. */
const signed = (device: TestDevice, { upgrade }: Asking, { method, path, body }: Covered): Record<string, string> =>
  upgrade
    ? { "sec-websocket-protocol": `${streamProtocol}, ${device.protocol(path)}` }
    : { authorization: device.header(method, path, body) };

/** What an agent may ask, by name: written out, so that a route that becomes open to agents is seen here. */
const agents = new Set<OperationName>([
  "health",
  "info",
  "openapi",
  "sessions",
  "projects",
  "session",
  "events",
  "transcript",
  "attachment",
  "sse",
  "stream",
  "screen",
  "queue",
  "primer",
  "acpLogs",
  "prompt",
  "changes",
  "patch",
  "files",
  "work",
  "spawn",
  "spawning",
  "claimPullRequest",
]);

/** Stands for every credential there is: add one here, and it is asked for every route. */
async function credentialsOf(it: MatrixApi): Promise<Credential[]> {
  // Rotated in the course of it.
  const token = (): string => readFileSync(join(it.directory, "token"), "utf8").trim();
  const tcp = (name: string, headers: Credential["headers"], expected: Credential["expected"]): Credential => ({
    name,
    door: "tcp",
    headers,
    expected,
  });
  const device = async (rights: Right): Promise<Credential> => {
    const known = await enrolled(it.access, it.url, rights);
    // A logout ends the device: each gets one of its own.
    const headers: Credential["headers"] = async (asking, sent) =>
      signed(asking.name === "logout" ? await enrolled(it.access, it.url, rights) : known, asking, sent);
    return { ...tcp(`a device that may ${rights}`, headers, forDevice(rights)), origin: it.url };
  };
  const revoked = await enrolled(it.access, it.url);
  await it.access.revoke(revoked.id);
  const [known, stranger] = [await enrolled(it.access, it.url), new TestDevice(it.url)];
  const forged = (sent: Covered): Record<string, string> => {
    stranger.nonce = it.access.challenge().nonce;
    const proof = stranger.proof(sent.method, sent.path, sent.body, { device: known.id });
    return { authorization: proofHeader(proof) };
  };
  const over = (
    door: "socket" | "agents",
    name: string,
    headers: Record<string, string>,
    expected: Credential["expected"],
  ): Credential => ({
    name: `${name}, over the ${door === "agents" ? "agents' " : ""}socket`,
    door,
    headers: () => headers,
    expected,
  });
  const capability = { [capabilityHeader]: "good" };
  const forAgent = ({ name }: Asking): Expected => (agents.has(name) ? "reached" : "refused");
  return [
    tcp("nothing", () => ({}), forAnyone),
    tcp("a wrong token", () => bearer("x".repeat(43)), forAnyone),
    tcp("an empty token", () => ({ authorization: "Bearer " }), forAnyone),
    tcp("the token as Basic", () => ({ authorization: `Basic ${btoa(`x:${token()}`)}` }), forAnyone),
    tcp("the token without a scheme", () => ({ authorization: token() }), forAnyone),
    tcp("the token in a cookie", () => ({ cookie: `token=${token()}; authorization=Bearer ${token()}` }), forAnyone),
    // A query that a route does not know is refused by the routes that ask for no token.
    {
      ...tcp(
        "the token in the address",
        () => ({}),
        (asking) => (asking.route.who.device === "anyone" ? "refused" : [401]),
      ),
      search: `token=${it.token}`,
    },
    tcp("the name of a session", () => ({ "holdfast-actor": "session:ab-1" }), forAnyone),
    tcp("an agent's capability", () => capability, forAnyone),
    tcp("a revoked device", (asking, sent) => signed(revoked, asking, sent), forAnyone),
    tcp("another device's name", (_, sent) => forged(sent), forAnyone),
    tcp("an unsigned device", () => ({ authorization: `Holdfast device=${known.id}` }), forAnyone),
    tcp(
      "the main token",
      () => bearer(token()),
      (asking) => (asking.name === "logout" ? "refused" : forPerson(asking)),
    ),
    await device("watch"),
    await device("answer"),
    await device("all"),
    over("socket", "the person", {}, ({ name }) =>
      neverWorks.has(name) || ofDevice.has(name) || name === "logout" ? "refused" : "reached",
    ),
    over("socket", "an agent", { "holdfast-actor": "session:ab-1" }, forAgent),
    over("socket", "a session that is gone", { "holdfast-actor": "session:no-1" }, () => "refused"),
    over("agents", "an agent's capability", capability, forAgent),
    over("agents", "a wrong capability", { [capabilityHeader]: "bad" }, () => "refused"),
    over("agents", "nothing", {}, () => "refused"),
    over("agents", "the main token", bearer(it.token), () => "refused"),
  ];
}

const session = { id: "ab-1", project: "p", role: "worker" } as unknown as SessionState;
const store = { session: (id: string) => (id === session.id ? session : null) };
const parts = { store, agents: { of: () => null } } as unknown as Parameters<typeof createAuthorize>[0];

/** Like the daemon's, but the capability is a plain word: src/supervisor/callers/callers.test.ts tests real ones. */
const callers: Callers = {
  ...trustingCallers,
  actor: (peer, claims) => {
    const held = claims.capability === "good" ? { session: session.id, launch: asLaunchId("l-1") } : null;
    const caller = callerOf(peer, claims, held);
    if (caller.may) return caller.actor;
    throw new HoldfastError("forbidden", caller.message);
  },
};

async function open(readOnly: boolean): Promise<MatrixApi> {
  const asked: TestApi["asked"] = [];
  const authorize = createAuthorize(parts);
  const it = await openTestApi({ handlers: recordingHandlers(asked), authorize, callers, readOnly });
  const agentsSocket = join(it.directory, "a.sock");
  await it.api.listenSocket(agentsSocket, "agents");
  return { ...it, asked, agentsSocket };
}

const named = { params: { id: "ab-1", prompt: "x", n: "0" }, queries: { stream: "session=ab-1", sse: "session=ab-1" } };

test("[PROOF-1] every route with every credential, Host, Origin and method is answered as the table says", async () => {
  const it = await open(false);
  try {
    const { requests, unexpected } = await runMatrix(it, await credentialsOf(it), named);
    console.log(`${requests} requests, ${unexpected.length} unexpected`);
    expect(unexpected).toEqual([]);
    expect(requests).toBeGreaterThan(5_000);
  } finally {
    await it.close();
  }
}, 120_000);

test("[PROOF-1] a read-only daemon lets nothing through that writes", async () => {
  const it = await open(true);
  const writes = (
    {
      route: {
        method,
        who: { whileReadOnly },
      },
    }: Asking,
    door: string,
  ): boolean => method !== "GET" && (whileReadOnly === undefined || (whileReadOnly.via ?? door) !== door);
  try {
    const all = (await credentialsOf(it)).filter(({ name }) => /main token|the person/.test(name));
    const readOnly = all.map((credential): Credential => ({
      ...credential,
      expected: (asking) => (writes(asking, credential.door) ? "refused" : credential.expected(asking)),
    }));
    const { requests, unexpected } = await runMatrix(it, readOnly, named);
    console.log(`${requests} requests, ${unexpected.length} unexpected`);
    expect(unexpected).toEqual([]);
  } finally {
    await it.close();
  }
}, 120_000);
