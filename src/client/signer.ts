/**
 * Signs a browser's requests with its device's key. Each page has its own challenge, so that tabs share nothing; it
 * is renewed before it expires, and when the daemon reports it as expired.
 */
import {
  challengeHeader,
  proofHeader,
  proofProtocol,
  requestText,
  socketMethod,
  type DeviceProof,
} from "../contract/device-proof.ts";

export interface DeviceKey {
  id: string;
  privateKey: CryptoKey;
}

export interface SignerOptions {
  /** Null before a login. */
  key: () => Promise<DeviceKey | null>;
  /** Of the page. */
  origin: () => string;
  challenge: () => Promise<{ nonce: string; lifeMs: number }>;
}

interface Challenge {
  nonce: string;
  /** The last number that was used with it. */
  count: number;
  since: number;
  until: number;
}

interface HttpResponse {
  status: number;
  headers: { get(name: string): string | null };
}

export interface Signer {
  /** Sends a request with its proof, once more where its challenge alone was refused. */
  send<A extends HttpResponse>(
    asked: { method: string; path: string; body: string | null },
    send: (headers: Record<string, string>) => Promise<A>,
  ): Promise<A>;
  /** The subprotocol that proves a WebSocket to this path; its challenge is fresh, since no answer can renew it. */
  protocolFor(path: string): Promise<string | null>;
  /** The line broke: another daemon may answer next, to which the challenge means nothing. */
  doubt(): void;
}

/** A part of the challenge's life that is left unused: clocks and slow lines. */
const usedPart = 0.8;
/** Sockets of one page may share a challenge for so long, unless the line broke meanwhile. */
const freshMs = 60_000;

export function createSigner({ key, origin, challenge }: SignerOptions): Signer {
  let current: Challenge | null = null;
  let asking: Promise<Challenge> | null = null;

  const keep = (nonce: string, lifeMs: number): Challenge => {
    const since = performance.now();
    return (current = { nonce, count: 0, since, until: since + lifeMs * usedPart });
  };
  const renew = (): Promise<Challenge> =>
    (asking ??= challenge()
      .then(({ nonce, lifeMs }) => keep(nonce, lifeMs))
      .finally(() => (asking = null)));

  const sign = async (method: string, path: string, body: string | null): Promise<DeviceProof | null> => {
    const own = await key();
    if (own === null) return null;
    const digest = body === null || body === "" ? "" : await digestOf(body);
    const given = current === null || performance.now() > current.until ? await renew() : current;
    const unsigned = { nonce: given.nonce, count: ++given.count, body: digest };
    const text = new TextEncoder().encode(requestText(unsigned, { method, path, origin: origin() }));
    const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, own.privateKey, text);
    return { ...unsigned, device: own.id, signature: base64url(signature) };
  };

  return {
    send: async ({ method, path, body }, send) => {
      for (let attempt = 1; ; attempt++) {
        const proof = await sign(method, path, body);
        const answer = await send(proof === null ? {} : { Authorization: proofHeader(proof) }).catch(
          (error: unknown) => {
            current = null;
            throw error;
          },
        );
        const renewed = answer.headers.get(challengeHeader);
        if (answer.status !== 401 || renewed === null) return answer;
        if (attempt > 1) throw new Error("it refused two challenges in a row");
        const [nonce = "", lifeMs = "0"] = renewed.split(" ");
        keep(nonce, Number(lifeMs));
      }
    },
    protocolFor: async (path) => {
      if ((await key()) === null) return null;
      if (current === null || performance.now() - current.since > freshMs) await renew();
      const proof = await sign(socketMethod, path, null);
      return proof === null ? null : proofProtocol(proof);
    },
    doubt: () => {
      current = null;
    },
  };
}

async function digestOf(text: string): Promise<string> {
  return base64url(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

export function base64url(bytes: ArrayBuffer | Uint8Array): string {
  const text = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
