/**
 * Whether a passphrase withstands guessing over the network, where a few thousand guesses a day are possible at most. Not
 * an estimate of entropy: it refuses passphrases that are guessed first. Pure.
 */

const minLength = 12;
const minDistinct = 8;
/** Without a second kind of character it has to be longer. */
const minLengthOfOneKind = 16;
const minWords = 4;
const minWordLetters = 3;

/** What lists of leaked passwords begin with, and rows of keys. */
const common = (
  "password passwort passphrase holdfast welcome letmein changeme iloveyou trustno administrator admin monkey dragon " +
  "football baseball sunshine princess superman qwertyuiop qwertzuiop qwerty qwertz azerty asdfghjkl asdf zxcvbnm " +
  "yxcvbnm 1q2w3e4r secret master login access test hello guest root user abc123 default"
).split(" ");

/** Well-known phrases. */
const known = ["correct horse battery staple", "the quick brown fox jumps over the lazy dog", "open sesame"];

/** The reason why it is too weak, as the end of a sentence; null if it is strong enough. */
export function weaknessOf(passphrase: string): string | null {
  const text = passphrase.normalize("NFC").trim();
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  if (known.includes(words.join(" "))) return "it is a well-known phrase";
  const long = new Set(words.filter((word) => word.length >= minWordLetters && !common.includes(word)));
  if (long.size >= minWords) return null;
  const rest = withoutPatterns(text);
  if (rest.length < minLength && text.length >= minLength) return "it is made of common words or rows of characters";
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

/** Four words that can be spoken and typed on a phone, 66 bits: `bakor-tizum-lefan-rusod`. */
export function generatePassphrase(pick: (below: number) => number): string {
  const one = (letters: string): string => letters[pick(letters.length)]!;
  const word = (): string => [consonants, vowels, consonants, vowels, consonants].map(one).join("");
  return Array.from({ length: generatedWords }, word).join("-");
}
