import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

/**
 * Recognizes the last passphrase in a later start and records whether it is weak: a service passes its passphrase file
 * at every start.
 */
export interface PassphraseMark {
  hash: string;
  /** Why it is weak; only for a passphrase set before there was a minimum strength. */
  weak: string | null;
  /** Whether it replaced an earlier passphrase. */
  replaced: boolean;
}

const cost = { N: 2 ** 15, r: 8, p: 1 };
const hashBytes = 32;

/** The format of a mark, and of a passphrase stored by an earlier build. */
const form = /^holdfast-scrypt-v1:(\d+):(\d+):(\d+):([A-Za-z0-9_-]{22}):([A-Za-z0-9_-]{43})$/;
/** Any of our hashes, including those of later builds. */
const anyHash = /^holdfast-[a-z0-9]+-v\d+:/;

export function hashForMark(passphrase: string): string {
  const salt = randomBytes(16);
  const parts = [salt, derive(passphrase, salt, cost)].map((each) => each.toString("base64url"));
  return `holdfast-scrypt-v1:${cost.N}:${cost.r}:${cost.p}:${parts.join(":")}`;
}

/** False for a hash in an unknown format. */
export function isSamePassphrase(given: string, stored: string): boolean {
  const [, n, r, p, salt, expected] = form.exec(stored) ?? [];
  if (expected === undefined) return !anyHash.test(stored) && given.normalize("NFC") === stored.normalize("NFC");
  const actual = derive(given, Buffer.from(salt!, "base64url"), { N: Number(n), r: Number(r), p: Number(p) });
  return timingSafeEqual(actual, Buffer.from(expected, "base64url"));
}

function derive(passphrase: string, salt: Buffer, options: typeof cost): Buffer {
  const maxmem = 256 * options.N * options.r + 1024 * 1024;
  return scryptSync(passphrase.normalize("NFC"), salt, hashBytes, { ...options, maxmem });
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

const minLength = 12;
const minDistinct = 8;
/** For a passphrase with a single kind of character. */
const minLengthOfOneKind = 16;
const minWords = 4;
const minWordLetters = 3;

/** The most common leaked passwords, and rows of keys. */
const common = (
  "password passwort passphrase holdfast welcome letmein changeme iloveyou trustno administrator admin monkey dragon " +
  "football baseball sunshine princess superman qwertyuiop qwertzuiop qwerty qwertz azerty asdfghjkl asdf zxcvbnm " +
  "yxcvbnm 1q2w3e4r secret master login access test hello guest root user abc123 default"
).split(" ");

/** Well-known phrases. */
const known = ["correct horse battery staple", "the quick brown fox jumps over the lazy dog", "open sesame"];

/**
 * Why a passphrase would not withstand guessing over the network (a few thousand guesses per day at most), as the end of
 * a sentence; null if it is strong enough. Not an entropy estimate: it refuses passphrases that are guessed first.
 */
export function weaknessOf(passphrase: string): string | null {
  const text = passphrase.normalize("NFC").trim();
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (known.includes(words.join(" "))) return "it is a well-known phrase";
  const long = new Set(words.filter((word) => word.length >= minWordLetters && !common.includes(word)));
  if (long.size >= minWords) return null;
  const rest = withoutPatterns(text);
  if (rest.length < minLength && text.length >= minLength) return "it consists of common words or rows of characters";
  if (rest.length < minLength) return `it has fewer than ${minLength} characters`;
  if (new Set(rest).size < minDistinct) return "it repeats a few characters";
  if (kindsOf(text) < 2 && text.length < minLengthOfOneKind) {
    return `it has one kind of character and fewer than ${minLengthOfOneKind} of them`;
  }
  return null;
}

/** Each common word and each run (aaaa, 1234, dcba) counts as one character. */
function withoutPatterns(text: string): string {
  const plain = text
    .toLowerCase()
    .replaceAll("0", "o")
    .replaceAll("@", "a")
    .replaceAll("$", "s")
    .replaceAll("3", "e")
    .replaceAll("1", "i");
  let spelled = text.toLowerCase();
  for (const word of common) {
    for (const form of [plain, spelled]) {
      const at = form.indexOf(word);
      if (at >= 0 && spelled.length === plain.length) {
        spelled = spelled.slice(0, at) + "\0".repeat(word.length) + spelled.slice(at + word.length);
      }
    }
  }
  const codes = Array.from(spelled.replaceAll(/\0+/g, "\0"), (letter) => letter.codePointAt(0)!);
  return codes
    .filter((code, at) => {
      const [before, earlier] = [codes[at - 1], codes[at - 2]];
      if (before === undefined || earlier === undefined) return true;
      const step = code - before;
      return !(Math.abs(step) <= 1 && before - earlier === step);
    })
    .map((code) => String.fromCodePoint(code))
    .join("");
}

function kindsOf(text: string): number {
  return [/\p{Ll}/u, /\p{Lu}/u, /\p{N}/u, /[^\p{L}\p{N}]/u].filter((kind) => kind.test(text)).length;
}

const consonants = "bdfghjklmnprstvz";
const vowels = "aeiou";
const generatedWords = 4;

/** Four pronounceable words that are easy to type on a phone, 66 bits: `bakor-tizum-lefan-rusod`. */
export function generatePassphrase(pick: (below: number) => number): string {
  const one = (letters: string): string => letters[pick(letters.length)]!;
  const word = (): string => [consonants, vowels, consonants, vowels, consonants].map(one).join("");
  return Array.from({ length: generatedWords }, word).join("-");
}
