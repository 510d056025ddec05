/**
 * Logs this browser in: creates its key, and proves to the daemon that it has a login link or the passphrase, without
 * sending either. Loaded on first login.
 */
import { base64url } from "../../../client/signer.ts";
import { loginText, minIterations } from "../../../contract/device-proof.ts";
import type { Output } from "../../../contract/operations.ts";
import { browserName } from "./browser-name.ts";
import { bytesOf, deviceKey, storeKey, type StoredKey } from "./device-key.ts";
import { callUnsigned } from "./api.ts";

export type Credentials = { code: string } | { passphrase: string };

/** Throws with the message to show. */
export async function enroll(credentials: Credentials): Promise<Output<"login">["device"]> {
  const key = (await deviceKey()) ?? (await makeKey());
  const challenge = await callUnsigned("challenge");
  const text = loginText({ nonce: challenge.nonce, origin: location.origin, publicKey: key.publicKey });
  const body = { nonce: challenge.nonce, publicKey: key.publicKey, name: browserName() };
  let login: Promise<Output<"login">>;
  if ("code" in credentials) {
    const [code = "", secret = ""] = credentials.code.split(".");
    const proof = base64url(await hmac(new TextEncoder().encode(secret), text));
    login = callUnsigned("login", { body: { ...body, code, proof } });
  } else {
    const proof = await provePassphrase(credentials.passphrase, challenge.passphrase, text);
    login = callUnsigned("login", { body: { ...body, proof } });
  }
  const { device } = await login;
  await storeKey(key);
  return device;
}

async function makeKey(): Promise<StoredKey> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
  const publicKey = base64url(await crypto.subtle.exportKey("raw", pair.publicKey));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(publicKey)));
  // Must match the id in src/server/devices.ts.
  const id = Array.from(digest.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id, publicKey, privateKey: pair.privateKey };
}

/** As in SCRAM: neither the proof nor the daemon's stored verifier can be replayed. */
async function provePassphrase(
  passphrase: string,
  challenge: Output<"challenge">["passphrase"],
  text: string,
): Promise<string> {
  if (challenge === null) {
    throw new Error("This daemon has no passphrase. Run `holdfast dashboard` for a login link.");
  }
  if (challenge.salt === null) {
    throw new Error(
      "The passphrase was set by an earlier version and must be set again. On the daemon's machine, run `holdfast stop`, then `holdfast start --passphrase-file <file>`. Until then, use `holdfast pair`.",
    );
  }
  if (challenge.iterations < minIterations) {
    throw new Error("The server asked for a passphrase proof that is too weak. It may not be Holdfast.");
  }
  const salt = bytesOf(challenge.salt);
  const typed = new TextEncoder().encode(passphrase.normalize("NFC"));
  const key = await crypto.subtle.importKey("raw", typed, "PBKDF2", false, ["deriveBits"]);
  const how = { name: "PBKDF2", hash: "SHA-256", salt, iterations: challenge.iterations };
  const clientKey = new Uint8Array(await crypto.subtle.deriveBits(how, key, 256));
  const storedKey = new Uint8Array(await crypto.subtle.digest("SHA-256", clientKey));
  const mask = new Uint8Array(await hmac(storedKey, text));
  return base64url(clientKey.map((byte, at) => byte ^ mask[at]!));
}

async function hmac(secret: Uint8Array<ArrayBuffer>, text: string): Promise<ArrayBuffer> {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text));
}
