/** One line of what an agent said, fit for a card or a title: plain text and nothing that acts on what stands beside it. */
const maxCharacters = 200;

/** Escape sequences whole, then what is left of control characters. */
// oxlint-disable-next-line no-control-regex -- an agent's words are anybody's text
const escapes = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])/g;
// oxlint-disable-next-line no-control-regex -- as above
const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
/** Marks and overrides of direction, which would turn the text around them. */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Null where there is none. A line of nothing but punctuation (a fence, a rule) says nothing. */
export function lastLineOf(text: string): string | null {
  const lines = text
    .replaceAll("\r\n", "\n")
    .replaceAll(escapes, "")
    .split(/[\n\r\u2028\u2029]/)
    .map((line) => line.replaceAll(controls, "").replaceAll(directions, "").replaceAll(/\s+/g, " ").trim());
  const line = lines.findLast((each) => /[\p{L}\p{N}\p{S}]/u.test(each) && !/^[`~=-]+$/.test(each));
  if (line === undefined) return null;
  const characters = Array.from(line.toWellFormed());
  return characters.length <= maxCharacters
    ? characters.join("")
    : `${characters.slice(0, maxCharacters - 1).join("")}…`;
}
