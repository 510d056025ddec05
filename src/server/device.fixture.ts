/** For tests: a browser's half of logging in and signing, by Node's own crypto. */
import { createHash, createHmac, generateKeyPairSync, pbkdf2Sync, sign, type KeyObject } from "node:crypto";
import type { LoginRequest } from "../contract/device.ts";
import {
  loginText,
  proofHeader,
  proofProtocol,
  requestText,
  socketMethod,
  type DeviceProof,
} from "../contract/device-proof.ts";
import type { Right } from "../contract/rights.ts";
import type { Access, From } from "./access.ts";
import { send, type Answer, type TestApi } from "./api.fixture.ts";

export class TestDevice {
  readonly publicKey: string;
  readonly id: string;
  readonly #privateKey: KeyObject;
  origin: string;
  nonce = "";
  count = 0;

  constructor(origin: string) {
    const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x = "", y = "" } = pair.publicKey.export({ format: "jwk" });
    const point = [Buffer.from([4]), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")];
    this.publicKey = Buffer.concat(point).toString("base64url");
    this.id = createHash("sha256").update(this.publicKey).digest("hex").slice(0, 16);
    this.#privateKey = pair.privateKey;
    this.origin = origin;
  }

  /** As the page of a login link sends it. */
  byCode(code: string, nonce: string): LoginRequest {
    const [id = "", secret = ""] = code.split(".");
    const proof = createHmac("sha256", secret).update(this.#text(nonce)).digest("base64url");
    return { code: id, nonce, publicKey: this.publicKey, proof, name: "Chrome on Linux" };
  }

  byPassphrase(words: string, asked: { salt: string | null; iterations: number }, nonce: string): LoginRequest {
    const salt = Buffer.from(asked.salt ?? "", "base64url");
    const clientKey = pbkdf2Sync(words.normalize("NFC"), salt, asked.iterations, 32, "sha256");
    const storedKey = createHash("sha256").update(clientKey).digest();
    const mask = createHmac("sha256", storedKey).update(this.#text(nonce)).digest();
    const proof = Buffer.from(clientKey.map((byte, at) => byte ^ mask[at]!)).toString("base64url");
    return { nonce, publicKey: this.publicKey, proof, name: "Chrome on Linux" };
  }

  proof(method: string, path: string, body = "", over: Partial<DeviceProof> = {}): DeviceProof {
    const digest = body === "" ? "" : createHash("sha256").update(body).digest("base64url");
    const unsigned = { device: this.id, nonce: this.nonce, count: ++this.count, body: digest, ...over };
    const text = Buffer.from(requestText(unsigned, { method, path, origin: this.origin }));
    const signature = sign("sha256", text, { key: this.#privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url");
    return { ...unsigned, signature, ...over };
  }

  header(method: string, path: string, body = ""): string {
    return proofHeader(this.proof(method, path, body));
  }

  protocol(path: string): string {
    return proofProtocol(this.proof(socketMethod, path));
  }

  #text(nonce: string): string {
    return loginText({ nonce, origin: this.origin, publicKey: this.publicKey });
  }
}

/** The page's place and the door's opinion of it. */
export function from(origin: string, allowed = origin): From {
  return { origin, address: "127.0.0.1", allowsOrigin: (each) => each === allowed };
}

/** A fresh device that came by a link. */
export async function enrolled(access: Access, origin: string, rights: Right = "all"): Promise<TestDevice> {
  const device = new TestDevice(origin);
  const { url } = access.issueLink(origin, { rights });
  device.nonce = access.challenge().nonce;
  await access.login(device.byCode(url.split("#login=")[1]!, device.nonce), from(origin));
  return device;
}

/** Sends a signed request over TCP. */
export function ask(it: TestApi, device: TestDevice, method: string, path: string, json?: unknown): Promise<Answer> {
  const body = json === undefined ? "" : JSON.stringify(json);
  const headers = { authorization: device.header(method, path, body) };
  return send(
    { host: "127.0.0.1", port: it.port, method, path },
    json === undefined ? { headers } : { headers: { ...headers, "content-type": "application/json" }, body },
  );
}
