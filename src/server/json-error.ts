/**
 * Where a text stops being JSON. V8 names a position in only some of its messages and quotes the input in others, which
 * may be a passphrase; this walks the text once, without recursion, and only after parsing failed.
 */
export interface JsonError {
  line: number;
  column: number;
  expected: string;
}

type Want = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "comma-or-end" | "nothing";

const expectation: Record<Want, string> = {
  value: "a value",
  "value-or-end": 'a value or "]"',
  key: "a key in double quotes",
  "key-or-end": 'a key in double quotes or "}"',
  colon: '":"',
  "comma-or-end": '"," or the closing bracket',
  nothing: "the end of the text",
};

const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const literals = ["true", "false", "null"];

export function findJsonError(text: string): JsonError | null {
  const open: ("[" | "{")[] = [];
  let want: Want = "value";
  let at = 0;
  const done = (): Want => (open.length === 0 ? "nothing" : "comma-or-end");
  for (;;) {
    while (at < text.length && " \t\n\r".includes(text.charAt(at))) at++;
    if (at >= text.length) return want === "nothing" ? null : locate(text, at, expectation[want]);
    const character = text.charAt(at);
    const inside = open.at(-1);
    if (want === "nothing") return locate(text, at, expectation[want]);
    if (want === "colon") {
      if (character !== ":") return locate(text, at, expectation[want]);
      at++;
      want = "value";
    } else if (want === "comma-or-end" && character === ",") {
      at++;
      want = inside === "{" ? "key" : "value";
    } else if (closes(want, character, inside)) {
      at++;
      open.pop();
      want = done();
    } else if (want === "key" || want === "key-or-end") {
      if (character !== '"') return locate(text, at, expectation[want]);
      const end = stringEnd(text, at);
      if (end.broken) return locate(text, end.at, end.expected);
      at = end.at;
      want = "colon";
    } else if (want === "comma-or-end") {
      return locate(text, at, expectation[want]);
    } else if (character === "{" || character === "[") {
      open.push(character);
      at++;
      want = character === "{" ? "key-or-end" : "value-or-end";
    } else if (character === '"') {
      const end = stringEnd(text, at);
      if (end.broken) return locate(text, end.at, end.expected);
      at = end.at;
      want = done();
    } else {
      const end = scalarEnd(text, at);
      if (end === at) return locate(text, at, expectation[want]);
      at = end;
      want = done();
    }
  }
}

function closes(want: Want, character: string, inside: "[" | "{" | undefined): boolean {
  if (character === "}") return inside === "{" && (want === "key-or-end" || want === "comma-or-end");
  if (character === "]") return inside === "[" && (want === "value-or-end" || want === "comma-or-end");
  return false;
}

function scalarEnd(text: string, at: number): number {
  const literal = literals.find((each) => text.startsWith(each, at));
  if (literal !== undefined) return at + literal.length;
  number.lastIndex = at;
  return number.test(text) ? number.lastIndex : at;
}

type StringEnd = { broken: false; at: number } | { broken: true; at: number; expected: string };

function stringEnd(text: string, start: number): StringEnd {
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') return { broken: false, at: at + 1 };
    if (character < " ") return { broken: true, at, expected: "control characters to be escaped" };
    if (character !== "\\") continue;
    const escape = text.charAt(at + 1);
    if (escape === "u" && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) at += 5;
    else if (escape !== "" && '"\\/bfnrt'.includes(escape)) at += 1;
    else return { broken: true, at, expected: "a valid escape" };
  }
  return { broken: true, at: text.length, expected: "the closing quote" };
}

function locate(text: string, offset: number, expected: string): JsonError {
  const before = text.slice(0, offset);
  const lineStart = before.lastIndexOf("\n") + 1;
  let line = 1;
  for (let at = before.indexOf("\n"); at >= 0; at = before.indexOf("\n", at + 1)) line++;
  return { line, column: offset - lineStart + 1, expected };
}
