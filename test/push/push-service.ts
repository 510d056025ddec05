/**
 * A fake push service on loopback, and the browsers that it serves: it stores what a daemon sends, verifies the sender
 * according to RFC 8292, and decrypts it as the browser would by RFC 8291. Written from the RFCs, independently of our code.
 */
import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify, type ECDH } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  /** It never responds. */
  silent?: boolean;
}

export class PushService implements AsyncDisposable {
  readonly received: Received[] = [];
  /** Its responses, by path. */
  answer: (path: string) => Answer = () => ({ status: 201 });
  readonly #server: Server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const path = request.url ?? "";
      this.received.push({ path, headers: request.headers, body: Buffer.concat(parts) });
      const { status, headers = {}, silent = false } = this.answer(path);
      if (!silent) response.writeHead(status, headers).end();
    });
  });

  static async open(): Promise<PushService> {
    const made = new PushService();
    await new Promise<void>((resolve) => made.#server.listen(0, "127.0.0.1", resolve));
    return made;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** A browser that subscribed here. */
  browser(name: string): PushBrowser {
    return new PushBrowser(this, `/wpush/${name}-${randomBytes(12).toString("base64url")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

class PushBrowser {
  readonly path: string;
  readonly #service: PushService;
  readonly #key: ECDH = createECDH("prime256v1");
  readonly #auth = randomBytes(16);

  constructor(service: PushService, path: string) {
    this.#service = service;
    this.path = path;
    this.#key.generateKeys();
  }

  subscription(label = "Test browser") {
    const keys = { p256dh: this.#key.getPublicKey("base64url"), auth: this.#auth.toString("base64url") };
    return { endpoint: `${this.#service.origin}${this.path}`, keys, label };
  }

  received(): Received[] {
    return this.#service.received.filter(({ path }) => path === this.path);
  }

  /** Everything that it received, decrypted. */
  read(): unknown[] {
    return this.received().map(({ body }) => JSON.parse(this.open(body).toString()) as unknown);
  }

  open(body: Buffer): Buffer {
    return openPush(body, this.#key, this.#auth);
  }
}

/** RFC 8291, the receiving end. */
export function openPush(body: Buffer, key: ECDH, auth: Buffer): Buffer {
  const salt = body.subarray(0, 16);
  const size = body.readUInt32BE(16);
  const keyEnd = 21 + body.readUInt8(20);
  const sender = body.subarray(21, keyEnd);
  const sealed = body.subarray(keyEnd);
  if (sealed.length > size) throw new Error("more than one record");
  const derive = (secret: Buffer, salted: Buffer, info: Buffer | string, bytes: number): Buffer =>
    Buffer.from(hkdfSync("sha256", secret, salted, info, bytes));
  const info = Buffer.concat([Buffer.from("WebPush: info\0"), key.getPublicKey(), sender]);
  const secret = derive(key.computeSecret(sender), auth, info, 32);
  const decipher = createDecipheriv(
    "aes-128-gcm",
    derive(secret, salt, "Content-Encoding: aes128gcm\0", 16),
    derive(secret, salt, "Content-Encoding: nonce\0", 12),
  );
  decipher.setAuthTag(sealed.subarray(-16));
  const plain = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
  const end = plain.lastIndexOf(2);
  if (end < 0 || plain.subarray(end + 1).some((byte) => byte !== 0)) throw new Error("the last record has no end");
  return plain.subarray(0, end);
}

/** The claims of a `vapid` header that is signed with this public key; throws if it is not. */
export function checkVapid(header: string | undefined, publicKey: string): { aud: string; exp: number; sub: string } {
  const { token = "", key = "" } = /^vapid t=(?<token>[^,]+), k=(?<key>.+)$/.exec(header ?? "")?.groups ?? {};
  if (key !== publicKey) throw new Error("signed for another key");
  const [head = "", claims = "", signature = ""] = token.split(".");
  const point = Buffer.from(key, "base64url");
  const part = (from: number): string => point.subarray(from, from + 32).toString("base64url");
  const verifier = createPublicKey({ key: { kty: "EC", crv: "P-256", x: part(1), y: part(33) }, format: "jwk" });
  const signed = Buffer.from(`${head}.${claims}`);
  const how = { key: verifier, dsaEncoding: "ieee-p1363" } as const;
  if (!verify("sha256", signed, how, Buffer.from(signature, "base64url"))) throw new Error("the signature is wrong");
  const read = (text: string): unknown => JSON.parse(Buffer.from(text, "base64url").toString());
  if ((read(head) as { alg: string }).alg !== "ES256") throw new Error("not ES256");
  return read(claims) as { aud: string; exp: number; sub: string };
}
