/**
 * What a browser signs, and how the signature travels. Browser and daemon build the same text from what each of them
 * sees: a difference in method, address, body, origin or challenge makes the signature worthless.
 */

/** Scheme of the `Authorization` header. */
export const deviceScheme = "Holdfast";
/** Browsers cannot set a header on a WebSocket, so there the proof is a subprotocol. */
export const deviceProtocolPrefix = "holdfast.device.";
/** Used as the method of a WebSocket, so that its proof is worthless as a request and the other way round. */
export const socketMethod = "WEBSOCKET";
/** On a 401: a fresh challenge, `<nonce> <life in ms>`. The request was refused for its challenge alone. */
export const challengeHeader = "holdfast-challenge";

/** A page refuses to derive a proof with fewer: another program on the port could name a number that is quick to guess. */
export const minIterations = 600_000;

export interface DeviceProof {
  device: string;
  nonce: string;
  /** Each number is used once with a nonce. */
  count: number;
  /** SHA-256 of the body, base64url; empty without a body. */
  body: string;
  signature: string;
}

export function requestText(
  { nonce, count, body }: Omit<DeviceProof, "device" | "signature">,
  asked: { method: string; path: string; origin: string },
): string {
  return ["holdfast request v1", asked.method, asked.path, body, nonce, String(count), asked.origin].join("\n");
}

/** What a login link's secret or the passphrase vouches for: this key, for this page, now. */
export function loginText({ nonce, origin, publicKey }: { nonce: string; origin: string; publicKey: string }): string {
  return ["holdfast login v1", nonce, origin, publicKey].join("\n");
}

export function proofHeader({ device, nonce, count, body, signature }: DeviceProof): string {
  return `${deviceScheme} device=${device}, nonce=${nonce}, n=${count}, body=${body}, sig=${signature}`;
}

export function proofProtocol({ device, nonce, count, signature }: DeviceProof): string {
  return `${deviceProtocolPrefix}${device}.${nonce}.${count}.${signature}`;
}

const headerShape =
  /^Holdfast device=([0-9a-f]{16}), nonce=([\w-]{16,64}), n=(\d{1,12}), body=([\w-]{43}|), sig=([\w-]{86})$/;
const protocolShape = /^holdfast\.device\.([0-9a-f]{16})\.([\w-]{16,64})\.(\d{1,12})\.([\w-]{86})$/;

/** Null where it is not of this shape. */
export function readProofHeader(text: string): DeviceProof | null {
  const [, device, nonce, count, body, signature] = headerShape.exec(text) ?? [];
  return signature === undefined
    ? null
    : { device: device!, nonce: nonce!, count: Number(count), body: body!, signature };
}

export function readProofProtocol(text: string): DeviceProof | null {
  const [, device, nonce, count, signature] = protocolShape.exec(text) ?? [];
  return signature === undefined ? null : { device: device!, nonce: nonce!, count: Number(count), body: "", signature };
}
