import { expect, test, vi } from "vitest";
import { readProofHeader, readProofProtocol } from "../contract/device-proof.ts";
import { createSigner } from "./signer.ts";

const answer = (status: number, challenge: string | null = null) => ({ status, headers: { get: () => challenge } });

async function make(): Promise<{ signer: ReturnType<typeof createSigner>; asked: () => number }> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
  let asked = 0;
  const signer = createSigner({
    key: async () => ({ id: "0123456789abcdef", privateKey: pair.privateKey }),
    origin: () => "http://127.0.0.1:4710",
    challenge: async () => ({ nonce: `challenge-number-${++asked}`, lifeMs: 600_000 }),
  });
  return { signer, asked: () => asked };
}

test("[DEVICE-2] a page signs all its requests with one challenge, each with its own number", async () => {
  const { signer, asked } = await make();
  const proofs: (string | undefined)[] = [];
  const get = (n: number) =>
    signer.send({ method: "GET", path: `/api/${n}`, body: null }, async (headers) => {
      proofs.push(headers["Authorization"]);
      return answer(200);
    });
  await Promise.all(Array.from({ length: 20 }, (_, n) => get(n)));
  const read = proofs.map((header) => readProofHeader(header ?? ""));
  expect(asked()).toBe(1);
  expect(new Set(read.map((proof) => proof?.nonce))).toEqual(new Set(["challenge-number-1"]));
  expect(new Set(read.map((proof) => proof?.count)).size).toBe(20);
});

test("[DEVICE-2] a refused challenge is replaced by the one in the answer, once", async () => {
  const { signer, asked } = await make();
  const nonces: (string | undefined)[] = [];
  const send = (answers: ReturnType<typeof answer>[]) =>
    signer.send({ method: "POST", path: "/api/x", body: "{}" }, async (headers) => {
      nonces.push(readProofHeader(headers["Authorization"] ?? "")?.nonce);
      return answers.shift()!;
    });
  expect(await send([answer(401, "renewed-by-the-daemon 600000"), answer(200)])).toMatchObject({ status: 200 });
  expect(nonces).toEqual(["challenge-number-1", "renewed-by-the-daemon"]);
  expect(asked()).toBe(1);
  // Refused for another reason, it is not tried again; refused for ever, it is no answer of our daemon.
  expect(await send([answer(401)])).toMatchObject({ status: 401 });
  const always = [answer(401, "renewed-by-the-daemon 1"), answer(401, "renewed-by-the-daemon 1")];
  await expect(send(always)).rejects.toThrow("refused two challenges");
});

test("[DEVICE-7] WebSockets have a fresh challenge, another one once the line broke; without a key nothing is signed", async () => {
  const { signer, asked } = await make();
  const open = async () => readProofProtocol((await signer.protocolFor("/api/stream")) ?? "");
  const [one, two] = [await open(), await open()];
  // Sockets that are opened one after the other share it, each with its own number.
  expect([one?.nonce, two?.nonce]).toEqual(["challenge-number-1", "challenge-number-1"]);
  expect(one?.count).not.toBe(two?.count);
  signer.doubt();
  expect((await open())?.nonce).toBe("challenge-number-2");
  const broken = signer.send({ method: "GET", path: "/", body: null }, () => Promise.reject(new Error("reset")));
  await expect(broken).rejects.toThrow("reset");
  expect((await open())?.nonce).toBe("challenge-number-3");
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 61_000);
  expect((await open())?.nonce).toBe("challenge-number-4");
  vi.restoreAllMocks();
  expect(asked()).toBe(4);
  const nobody = createSigner({
    key: async () => null,
    origin: () => "",
    challenge: () => Promise.reject(new Error("not asked for")),
  });
  expect(await nobody.protocolFor("/api/stream")).toBeNull();
  const sent = await nobody.send({ method: "GET", path: "/", body: null }, async (headers) => ({
    ...answer(200),
    headers_: headers,
  }));
  expect(sent.headers_).toEqual({});
});
