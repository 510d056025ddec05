/**
 * The cryptography of web push. Encryption for one browser (RFC 8291 over RFC 8188 `aes128gcm`, one record), so that the
 * push service learns only the size; and VAPID (RFC 8292), a token signed with the key that the browser subscribed with.
 */
import {
  createCipheriv,
  createECDH,
  createPrivateKey,
  generateKeyPairSync,
  hkdfSync,
  randomBytes,
  sign,
} from "node:crypto";
import type { JsonWebKey } from "node:crypto";

/** Push services may refuse tokens that are valid for more than a day. */
const lifeMs = 12 * 3_600_000;

export type VapidKey = JsonWebKey & { x: string; y: string; d: string };

export function makeVapidKey(): VapidKey {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ format: "jwk" }) as VapidKey;
}

export function isVapidKey(value: unknown): value is VapidKey {
  try {
    const { crv } = value as VapidKey;
    return crv === "P-256" && createPrivateKey({ key: value as VapidKey, format: "jwk" }).type === "private";
  } catch {
    return false;
  }
}

/** The uncompressed point in base64url, as browsers expect it. */
export function publicKeyOf({ x, y }: VapidKey): string {
  const part = (text: string): Buffer => Buffer.from(text, "base64url");
  return Buffer.concat([Buffer.from([4]), part(x), part(y)]).toString("base64url");
}

export function authorization(key: VapidKey, to: { endpoint: string; subject: string }, now: number): string {
  const claims = {
    aud: new URL(to.endpoint).origin,
    exp: Math.floor((now + lifeMs) / 1000),
    sub: to.subject,
  };
  const signed = `${encode({ typ: "JWT", alg: "ES256" })}.${encode(claims)}`;
  const signer = { key: createPrivateKey({ key, format: "jwk" }), dsaEncoding: "ieee-p1363" } as const;
  const signature = sign("sha256", Buffer.from(signed), signer).toString("base64url");
  return `vapid t=${signed}.${signature}, k=${publicKeyOf(key)}`;
}

/**
 * A contact for the push service. Apple's refuses a token whose subject is not public; the others accept any. The only
 * candidate is the dashboard's address, if it is public.
 */
export function subjectFor(origin: string | undefined): string {
  const host = URL.parse(origin ?? "")?.hostname ?? "";
  const isPublic = origin?.startsWith("https://") === true && host.includes(".") && !/\.(local|localhost)$/.test(host);
  return isPublic ? origin : "mailto:holdfast@localhost";
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** Keys of a browser's subscription: its public key and a secret, base64url. */
export interface BrowserKeys {
  p256dh: string;
  auth: string;
}

export const curve = "prime256v1";
const publicKeyBytes = 65;
const authBytes = 16;
const saltBytes = 16;
/** Push services need not accept more (RFC 8030, 7.2): the complete message is one record. */
const recordBytes = 4096;
const tagBytes = 16;
/** The rest is salt, record size, key with its length, the delimiter byte and the tag. */
export const maxPlainBytes = recordBytes - (saltBytes + 4 + 1 + publicKeyBytes) - 1 - tagBytes;
/** The delimiter after the text of the last record. */
const lastRecord = Buffer.from([2]);

/** Only tests pass it: the key and salt of a message are never reused. */
export interface Ephemeral {
  privateKey: Buffer;
  salt: Buffer;
}

/** Throws if the browser's keys are invalid. */
export function encryptFor(browser: BrowserKeys, plain: Buffer, fixed?: Ephemeral): Buffer {
  if (plain.length > maxPlainBytes) throw new RangeError(`a push has at most ${maxPlainBytes} bytes`);
  const theirs = Buffer.from(browser.p256dh, "base64url");
  const auth = Buffer.from(browser.auth, "base64url");
  if (theirs.length !== publicKeyBytes || theirs[0] !== 4) throw new TypeError("p256dh is not a point of the curve");
  if (auth.length !== authBytes) throw new TypeError(`auth must have ${authBytes} bytes`);
  const own = createECDH(curve);
  if (fixed === undefined) own.generateKeys();
  else own.setPrivateKey(fixed.privateKey);
  const salt = fixed?.salt ?? randomBytes(saltBytes);
  const ours = own.getPublicKey();

  const info = Buffer.concat([Buffer.from("WebPush: info\0"), theirs, ours]);
  const secret = derive(own.computeSecret(theirs), auth, info, 32);
  const key = derive(secret, salt, Buffer.from("Content-Encoding: aes128gcm\0"), 16);
  const nonce = derive(secret, salt, Buffer.from("Content-Encoding: nonce\0"), 12);

  const header = Buffer.alloc(5);
  header.writeUInt32BE(recordBytes);
  header.writeUInt8(ours.length, 4);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const sealed = [cipher.update(Buffer.concat([plain, lastRecord])), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([salt, header, ours, ...sealed]);
}

function derive(secret: Buffer, salt: Buffer, info: Buffer, bytes: number): Buffer {
  return Buffer.from(hkdfSync("sha256", secret, salt, info, bytes));
}
