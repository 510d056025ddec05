/**
 * The mark of the passphrase that was set last: a separate hash, to recognize the same passphrase in a later start
 * whatever form the daemon keeps, and whether it is weak. A service passes its passphrase file at every start.
 */
import { readFileSync } from "node:fs";
import { crypto } from "./crypto.ts";

export interface PassphraseMark {
  hash: string;
  /** Why it is weak: one that was set before there was a minimum. */
  weak: string | null;
  /** It took the place of another one. */
  replaced: boolean;
}

const cost = { N: 2 ** 15, r: 8, p: 1 };
const hashBytes = 32;

/** The form in which earlier builds keep the passphrase, and in which a mark keeps it. */
const form = /^holdfast-scrypt-v1:(\d+):(\d+):(\d+):([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]{43})$/;
/** Any hash of ours, of later builds too. */
const anyHash = /^holdfast-[a-z0-9]+-v\d+:/;

export function isHashed(stored: string): boolean {
  return anyHash.test(stored);
}

export function hashForMark(passphrase: string): string {
  const salt = crypto().randomBytes(16);
  const parts = [salt, derive(passphrase, salt, cost)].map((each) => each.toString("base64url"));
  return `holdfast-scrypt-v1:${cost.N}:${cost.r}:${cost.p}:${parts.join(":")}`;
}

/** False also for a hash in a form that is not known here. */
export function isSamePassphrase(given: string, stored: string): boolean {
  const [, n, r, p, salt, expected] = form.exec(stored) ?? [];
  if (expected === undefined) return !isHashed(stored) && given.normalize("NFC") === stored.normalize("NFC");
  const actual = derive(given, Buffer.from(salt!, "base64url"), { N: Number(n), r: Number(r), p: Number(p) });
  return crypto().timingSafeEqual(actual, Buffer.from(expected, "base64url"));
}

function derive(passphrase: string, salt: Buffer, options: typeof cost): Buffer {
  const maxmem = 256 * options.N * options.r + 1024 * 1024;
  return crypto().scryptSync(passphrase.normalize("NFC"), salt, hashBytes, { ...options, maxmem });
}

/** Null if it does not exist or cannot be read. */
export function readPassphraseMark(file: string): PassphraseMark | null {
  try {
    const { hash, weak, replaced } = JSON.parse(readFileSync(file, "utf8")) as Partial<PassphraseMark>;
    if (typeof hash !== "string" || !form.test(hash)) return null;
    return { hash, weak: typeof weak === "string" ? weak : null, replaced: replaced === true };
  } catch {
    return null;
  }
}
