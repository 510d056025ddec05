/**
 * Patterns of permission rules. Each is matched against the whole text, in time that grows with its length: the text is
 * the agent's, and an expression that backtracks would let it hold the daemon up.
 */

/**
 * What `*` never stands for in a rule that allows a command: with any of these the line is more than one simple command,
 * or reads differently from what it does. A pattern may name them literally. Text is matched by UTF-16 unit: the last range
 * is the first half of tag characters.
 */
const metacharacters =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[;&|$`<>()\\\u0000-\u0008\u000a-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\udb40-\udb43]/;

const anything = (): boolean => true;
const plain = (letter: string): boolean => !metacharacters.test(letter);

/** `*` stands for any text. For agents, projects and tools. */
export function matchesName(pattern: string, text: string): boolean {
  return matchStars(literals(pattern), text, anything);
}

/** `*` stands for any text; ` *` at the end also for nothing: `npm test *` matches `npm test`. */
export function matchesCommand(pattern: string, text: string, action: "allow" | "other"): boolean {
  const fits = action === "allow" ? plain : anything;
  if (matchStars(literals(pattern), text, fits)) return true;
  return pattern.endsWith(" *") && matchStars(literals(pattern.slice(0, -2)), text, fits);
}

/**
 * `*` stands for any text within one segment of a path, a segment `**` for any number of segments. In a rule that allows,
 * a wildcard never stands for `.git`: the files there decide what git runs.
 */
export function matchesPath(pattern: string, path: string, action: "allow" | "other"): boolean {
  // A relative pattern is about the worktree, and nothing outside of it.
  if (pattern.startsWith("/") !== path.startsWith("/")) return false;
  const fold = (text: string): string => (action === "allow" ? text : text.toLowerCase());
  const wanted = fold(pattern).split("/");
  const segments = path === "" ? [] : fold(path).split("/");
  const free = (segment: string): boolean => action === "other" || segment.toLowerCase() !== ".git";
  /** Which numbers of leading segments the pattern's segments so far can stand for. */
  let reached = segments.map(() => false);
  reached.push(false);
  reached[0] = true;
  for (const part of wanted) {
    const next = reached.map(() => false);
    for (let at = 0; at < reached.length; at++) {
      if (part === "**") {
        next[at] = reached[at]! || (at > 0 && next[at - 1]! && free(segments[at - 1]!));
      } else if (at > 0 && reached[at - 1]!) {
        const segment = segments[at - 1]!;
        next[at] = part === segment || (free(segment) && matchStars(literals(part), segment, anything));
      }
    }
    reached = next;
  }
  return reached[segments.length]!;
}

/** The text between stars; `\*` is a star. */
function literals(pattern: string): string[] {
  const parts = [""];
  for (let at = 0; at < pattern.length; at++) {
    const letter = pattern[at]!;
    if (letter === "*") parts.push("");
    else if (letter === "\\" && pattern[at + 1] === "*") parts[parts.length - 1] += pattern[++at]!;
    else parts[parts.length - 1] += letter;
  }
  return parts;
}

/** Follows all places at once where the literals so far can end. */
function matchStars(parts: readonly string[], text: string, fits: (letter: string) => boolean): boolean {
  const [first = "", ...others] = parts;
  if (others.length === 0) return text === first;
  if (!text.startsWith(first)) return false;
  let ends = new Uint8Array(text.length + 1);
  ends[first.length] = 1;
  for (const literal of others) {
    const next = new Uint8Array(text.length + 1);
    let open = false;
    for (let at = 0; at <= text.length; at++) {
      open = (open && at > 0 && fits(text[at - 1]!)) || ends[at] === 1;
      if (open && text.startsWith(literal, at)) next[at + literal.length] = 1;
    }
    ends = next;
  }
  return ends[text.length] === 1;
}
