/**
 * The stored passphrase: a verifier in the manner of SCRAM (RFC 5802). The browser proves the passphrase without sending
 * it, and neither the file nor one proof grants access. The CLI writes the user's passphrase into the file (0600); the
 * daemon replaces it with the verifier, so that it is on disk only briefly.
 */
import { createHmac, hash, pbkdf2, randomBytes, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { writeDurable } from "../base/durable-file.ts";
import { minIterations } from "../contract/device-proof.ts";
import { readPassphraseMark } from "../base/passphrase.ts";
import type { Logger } from "../ports/api.ts";
import type { Store } from "../ports/store.ts";

/** The setting that holds the mark of the passphrase under which access was given last. */
const key = "access.passphrase";

interface PassphraseChange {
  markFile: string;
  store: Pick<Store, "getSetting" | "putSetting">;
  onPassphraseChanged: () => Promise<void>;
  log: Logger;
}

/** Before the API listens. A crash in between repeats it. */
export async function noticePassphraseChange(options: PassphraseChange): Promise<void> {
  const { markFile, store, onPassphraseChanged, log } = options;
  const mark = readPassphraseMark(markFile);
  const last = store.getSetting(key);
  if (mark === null || mark.hash === last) return;
  // Without one on record only the command that set it knows whether there was another.
  if (last !== null || mark.replaced) {
    await onPassphraseChanged();
    log.info("the passphrase was changed; every browser was logged out");
  }
  await store.putSetting(key, mark.hash);
}

const hashBytes = 32;
const saltBytes = 16;

const stored = /^holdfast-pbkdf2-v1:(\d+):([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]{43})$/;
/** Of a build whose browsers sent the words. Nothing that a browser can prove fits it. */
const outdated = /^holdfast-scrypt-v1:/;

export interface Passphrase {
  /** What a browser needs for its proof. Without a salt the passphrase has to be given again. */
  readonly asked: { salt: string | null; iterations: number };
  /** `text` is what is vouched for. */
  verify(proof: string, text: string): Promise<boolean>;
  /** Resolves once the file holds the verifier, or could not be rewritten (then the words stay in it, 0600). */
  readonly settled: Promise<void>;
}

/** Null when there is no passphrase: no file, or an empty one. Fewer iterations are for tests. */
export function readPassphrase(
  file: string,
  warn: (message: string, cause: unknown) => void,
  iterations: number = minIterations,
): Passphrase | null {
  const text = readPassphraseFile(file);
  if (text === "") return null;
  const settled = Promise.resolve();
  if (outdated.test(text)) return { asked: { salt: null, iterations }, verify: async () => false, settled };
  const [, count, salt] = stored.exec(text) ?? [];
  if (salt !== undefined) {
    const asked = { salt, iterations: Number(count) };
    return { asked, verify: async (proof, vouchedFor) => matches(proof, vouchedFor, text), settled };
  }
  const asked = { salt: randomBytes(saltBytes).toString("base64url"), iterations };
  const made = makeVerifier(text, asked);
  const written = made
    // One that was removed or changed meanwhile stays so.
    .then((verifier) => (readPassphraseFile(file) === text ? writeDurable(file, `${verifier}\n`) : undefined))
    .catch((error: unknown) => warn("the passphrase file could not be rewritten", error));
  return { asked, verify: async (proof, vouchedFor) => matches(proof, vouchedFor, await made), settled: written };
}

/** Empty where there is no file. */
function readPassphraseFile(file: string): string {
  try {
    return readFileSync(file, "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

async function makeVerifier(
  words: string,
  { salt, iterations }: { salt: string; iterations: number },
): Promise<string> {
  const clientKey = await derive(words, salt, iterations);
  return `holdfast-pbkdf2-v1:${iterations}:${salt}:${hash("sha256", clientKey, "base64url")}`;
}

function matches(proof: string, text: string, verifier: string): boolean {
  const storedKey = Buffer.from(stored.exec(verifier)?.[3] ?? "", "base64url");
  const masked = Buffer.from(proof, "base64url");
  if (masked.length !== hashBytes) return false;
  const mask = createHmac("sha256", storedKey).update(text).digest();
  const clientKey = Buffer.from(masked.map((byte, at) => byte ^ mask[at]!));
  return timingSafeEqual(hash("sha256", clientKey, "buffer"), storedKey);
}

/** The same words can be typed as different code points on different machines. */
function derive(words: string, salt: string, iterations: number): Promise<Buffer> {
  const bytes = Buffer.from(salt, "base64url");
  return new Promise((resolve, reject) => {
    pbkdf2(words.normalize("NFC"), bytes, iterations, hashBytes, "sha256", (error, made) => {
      if (error === null) resolve(made);
      else reject(error);
    });
  });
}
