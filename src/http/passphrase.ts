/**
 * The passphrase as it is kept: scrypt with its own salt. The CLI writes the person's words into the file (0600); the
 * daemon that reads them puts the hash in their place, so that they stand on disk for a moment only.
 */
import { crypto } from "../base/crypto.ts";
import { readFileSync } from "node:fs";
import { writeDurable } from "../base/durable-file.ts";

/** 32 MiB and some 80 ms a guess: RFC 7914's interactive setting, doubled. Written into each hash, so it can grow. */
const defaultCost = { N: 2 ** 15, r: 8, p: 1 };
const hashBytes = 32;
const saltBytes = 16;

const stored = /^holdfast-scrypt-v1:(\d+):(\d+):(\d+):([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]{43})$/;

export interface Passphrase {
  verify(given: string): Promise<boolean>;
  /** Resolves once the file holds the hash, or could not be rewritten (then the words stay in it, 0600). */
  settled: Promise<void>;
}

/** Null when there is no passphrase: no file, or an empty one. */
export function readPassphrase(file: string, warn: (message: string, cause: unknown) => void): Passphrase | null {
  const text = readWords(file);
  if (text === "") return null;
  if (stored.test(text)) return { verify: (given) => matches(given, text), settled: Promise.resolve() };
  const hashed = hashPassphrase(text);
  const settled = hashed
    // One that was removed or changed meanwhile stays so.
    .then((hash) => (readWords(file) === text ? writeDurable(file, `${hash}\n`) : undefined))
    .catch((error: unknown) => warn("the passphrase file could not be rewritten as a hash", error));
  return { verify: async (given) => matches(given, await hashed), settled };
}

/** Empty where there is no file. */
function readWords(file: string): string {
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

export async function hashPassphrase(passphrase: string, cost = defaultCost): Promise<string> {
  const salt = crypto().randomBytes(saltBytes);
  const hash = await derive(passphrase, salt, cost);
  return `holdfast-scrypt-v1:${cost.N}:${cost.r}:${cost.p}:${salt.toString("base64url")}:${hash.toString("base64url")}`;
}

async function matches(given: string, hash: string): Promise<boolean> {
  const [, n, r, p, salt, expected] = stored.exec(hash) ?? [];
  const options = { N: Number(n), r: Number(r), p: Number(p) };
  const actual = await derive(given, Buffer.from(salt ?? "", "base64url"), options);
  return crypto().timingSafeEqual(actual, Buffer.from(expected ?? "", "base64url"));
}

/** The same words can be typed as different code points on different machines. */
function derive(passphrase: string, salt: Buffer, options: { N: number; r: number; p: number }): Promise<Buffer> {
  // What scrypt needs is 128 * N * r and some; OpenSSL refuses at its own, lower default.
  const maxmem = 256 * options.N * options.r + 1024 * 1024;
  return new Promise((resolve, reject) => {
    crypto().scrypt(passphrase.normalize("NFC"), salt, hashBytes, { ...options, maxmem }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}
