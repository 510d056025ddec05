/** Says to a push service who sends (RFC 8292): a token signed with the key that the browser subscribed for. */
import type { JsonWebKey } from "node:crypto";
import { crypto } from "../../base/digest.ts";

/** A push service may refuse what holds for more than a day. */
const lifeMs = 12 * 3_600_000;

export type VapidKey = JsonWebKey & { x: string; y: string; d: string };

export function makeVapidKey(): VapidKey {
  const { privateKey } = crypto().generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ format: "jwk" }) as VapidKey;
}

export function isVapidKey(value: unknown): value is VapidKey {
  try {
    const { crv } = value as VapidKey;
    return crv === "P-256" && crypto().createPrivateKey({ key: value as VapidKey, format: "jwk" }).type === "private";
  } catch {
    return false;
  }
}

/** As a browser wants it for its subscription: the uncompressed point, base64url. */
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
  const signer = { key: crypto().createPrivateKey({ key, format: "jwk" }), dsaEncoding: "ieee-p1363" } as const;
  const signature = crypto().sign("sha256", Buffer.from(signed), signer).toString("base64url");
  return `vapid t=${signed}.${signature}, k=${publicKeyOf(key)}`;
}

/**
 * Whom a push service may ask about what is sent. Apple's refuses a token whose subject names no public place; the others
 * take any. The dashboard's own address, where that is a public one, is all that is known here.
 */
export function subjectFor(origin: string | undefined): string {
  const host = URL.parse(origin ?? "")?.hostname ?? "";
  const isPublic = origin?.startsWith("https://") === true && host.includes(".") && !/\.(local|localhost)$/.test(host);
  return isPublic ? origin : "mailto:holdfast@localhost";
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
