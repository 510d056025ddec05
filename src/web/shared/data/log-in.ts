/**
 * Logs this browser in: makes its key, and proves to the daemon that a login link or the passphrase vouches for it. Neither
 * is sent. Loaded when somebody logs in.
 */
import { base64url } from "../../../client/signer.ts";
import { loginText, minIterations } from "../../../contract/device-proof.ts";
import type { Answers } from "../../../contract/answers.ts";
import { browserName } from "./browser-name.ts";
import { deviceKey, keepKey, type KeptKey } from "./device-key.ts";
import { callUnsigned } from "./api.ts";

export type Credentials = { code: string } | { passphrase: string };

/** Throws with the sentence to show. */
export async function enroll(credentials: Credentials): Promise<Answers["login"]["device"]> {
  const key = (await deviceKey()) ?? (await makeKey());
  const challenge = await callUnsigned("challenge");
  const text = loginText({ nonce: challenge.nonce, origin: location.origin, publicKey: key.publicKey });
  const body = { nonce: challenge.nonce, publicKey: key.publicKey, name: browserName() };
  let login: Promise<Answers["login"]>;
  if ("code" in credentials) {
    const [code = "", secret = ""] = credentials.code.split(".");
    const proof = base64url(await hmac(new TextEncoder().encode(secret), text));
    login = callUnsigned("login", { body: { ...body, code, proof } });
  } else {
    const proof = await provePassphrase(credentials.passphrase, challenge.passphrase, text);
    login = callUnsigned("login", { body: { ...body, proof } });
  }
  const { device } = await login;
  await keepKey(key);
  return device;
}

async function makeKey(): Promise<KeptKey> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign", "verify"]);
  const publicKey = base64url(await crypto.subtle.exportKey("raw", pair.publicKey));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(publicKey)));
  // As the daemon names it (src/server/devices.ts).
  const id = Array.from(digest.subarray(0, 8), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { id, publicKey, privateKey: pair.privateKey };
}

/** As in SCRAM: whoever sees this learns nothing that works again, and neither does whoever reads the daemon's file. */
async function provePassphrase(
  words: string,
  asked: Answers["challenge"]["passphrase"],
  text: string,
): Promise<string> {
  if (asked === null) {
    throw new Error("This daemon takes login links, not a passphrase. Run `holdfast dashboard` for a login link.");
  }
  if (asked.salt === null) {
    throw new Error(
      "The passphrase was set by an earlier version and has to be set again. On the daemon's machine: `holdfast stop`, then `holdfast start --passphrase-file <file>`. `holdfast pair` works meanwhile.",
    );
  }
  if (asked.iterations < minIterations) {
    throw new Error("The program that answers asks for a proof that is easy to guess from. It may not be Holdfast.");
  }
  const salt = Uint8Array.from(atob(asked.salt.replaceAll("-", "+").replaceAll("_", "/")), (each) =>
    each.charCodeAt(0),
  );
  const typed = new TextEncoder().encode(words.normalize("NFC"));
  const key = await crypto.subtle.importKey("raw", typed, "PBKDF2", false, ["deriveBits"]);
  const how = { name: "PBKDF2", hash: "SHA-256", salt, iterations: asked.iterations };
  const clientKey = new Uint8Array(await crypto.subtle.deriveBits(how, key, 256));
  const storedKey = new Uint8Array(await crypto.subtle.digest("SHA-256", clientKey));
  const mask = new Uint8Array(await hmac(storedKey, text));
  return base64url(clientKey.map((byte, at) => byte ^ mask[at]!));
}

async function hmac(secret: Uint8Array<ArrayBuffer>, text: string): Promise<ArrayBuffer> {
  const key = await crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text));
}
