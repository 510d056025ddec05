/**
 * YAML text to plain data, with the position of every key and value. Any repository may contain such a file, so the text
 * may be hostile: nothing here throws on it or takes time out of proportion to its size.
 */
import type { Document, LineCounter, Node, ParsedNode, YAMLError, YAMLMap, ErrorCode } from "yaml";
import type * as YamlModule from "yaml";
import { quote } from "./values.ts";

interface Message {
  message: string;
  hint: string | null;
}

function syntaxMessage(error: YAMLError): Message {
  const text = error.message;
  if (error.code === "MISSING_CHAR") {
    if (text.includes("quote")) return { message: "this quote is not closed", hint: null };
    return text.includes("map keys") ? missingColon : { message: "a bracket or comma is missing", hint: null };
  }
  if (error.code === "BAD_INDENT" && text.startsWith("Flow")) {
    return { message: "a [ or { above is not closed before this line", hint: "close it, or indent this line further" };
  }
  if (error.code === "BAD_SCALAR_START") {
    const character = text.at(-1) ?? "";
    return { message: `a value may not start with ${character}`, hint: "put it in quotes" };
  }
  if (text.includes("call stack")) return { message: "is nested too deeply", hint: null };
  return messages[error.code] ?? { message: `is not valid YAML: ${text.split("\n")[0] ?? ""}`, hint: null };
}

function aliasMessage(reason: string): Message {
  const unresolved = /^Unresolved alias.*: (.*)$/.exec(reason)?.[1];
  if (unresolved !== undefined) return { message: `nothing above is marked &${unresolved}`, hint: null };
  if (reason.includes("alias count")) return { message: "uses aliases too often", hint: "write the values out" };
  return { message: `is not valid YAML: ${reason}`, hint: null };
}

const missingColon = { message: 'a key without ":"', hint: 'write it as "key: value"' };

const messages: Partial<Record<ErrorCode, Message>> = {
  TAB_AS_INDENT: { message: "tabs may not be used to indent", hint: "use spaces" },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second ": " in one line',
    hint: "put the value in quotes, or check the indentation",
  },
  MULTILINE_IMPLICIT_KEY: missingColon,
  BAD_INDENT: { message: "wrong indentation", hint: "lines of one map start in the same column" },
  BAD_DQ_ESCAPE: {
    message: "unknown escape in double quotes",
    hint: "use single quotes, or write \\\\ for a backslash",
  },
  MULTIPLE_DOCS: { message: "a second document starts here", hint: "remove the line ---" },
  UNEXPECTED_TOKEN: { message: "unexpected text", hint: "check the indentation and brackets above" },
  TAG_RESOLVE_FAILED: { message: "unknown tag", hint: "remove the word that starts with !" },
};

export type Path = readonly PropertyKey[];

export interface Position {
  line: number;
  column: number;
}

export interface Found extends Position {
  message: string;
  hint: string | null;
}

export interface YamlText {
  data: unknown;
  problems: Found[];
  /** False if the text is not valid YAML: then only the part above the first problem is reliable. */
  sound: boolean;
  /** Position of the key or of its value; if missing, of the nearest node around it. */
  readonly position: (path: Path, at: "key" | "value") => Position;
  /** A scalar exactly as it was typed, or null. */
  readonly source: (path: Path) => string | null;
}

type Yaml = typeof YamlModule;
type MapNode = YAMLMap<Node, Node | null>;

/** Deeper than any key we know. */
const maxDepth = 32;
/** Enough to share a few settings, too few for aliases that double each other to fill the memory. */
const maxAliases = 100;

export async function readYaml(text: string): Promise<YamlText> {
  const control = forbidden.exec(text);
  if (control !== null) return unreadable(text, control.index, controlMessage(control[0]), "remove it");
  // Usual when the daemon starts: no need to load the library.
  if (text.trim() === "") return empty;
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  try {
    return read(yaml, text, lines);
  } catch (error) {
    // The library recurses with the nesting of the text.
    if (error instanceof RangeError) return unreadable(text, 0, "is nested too deeply", null);
    return unreadable(text, 0, `is not valid YAML: ${firstLine(error)}`, null);
  }
}

function read(yaml: Yaml, text: string, lines: LineCounter): YamlText {
  // uniqueKeys off: the library compares every key with every other, which takes minutes for a hostile file.
  const document = yaml.parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    uniqueKeys: false,
    logLevel: "error",
  });
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const finder = new Finder(yaml, document);
  const problems: Found[] = [];
  const errors = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  for (const error of errors) {
    const found = { ...positionAt(offsetOf(yaml, document, error)), ...syntaxMessage(error) };
    // Later problems on the same line are mostly consequences of the first.
    if (problems.at(-1)?.line !== found.line) problems.push(found);
  }
  const structure = walk(yaml, document.contents, positionAt);
  problems.push(...structure.problems);
  let data: unknown = null;
  let sound = document.errors.length === 0 && structure.sound;
  if (!structure.tooDeep) {
    try {
      data = document.toJS({ maxAliasCount: maxAliases });
    } catch (error) {
      sound = false;
      problems.push({ ...positionAt(finder.firstAlias()), ...aliasMessage(firstLine(error)) });
    }
  }
  return {
    data,
    problems,
    sound,
    position: (path, at) => positionAt(finder.offset(path, at)),
    source: (path) => finder.source(path),
  };
}

/** Finds what the library accepts: duplicate keys, keys that are not plain text, too much nesting. */
function walk(yaml: Yaml, root: Node | null, positionAt: (offset: number) => Position) {
  const problems: Found[] = [];
  let sound = true;
  let tooDeep = false;
  const add = (node: Node, message: string, hint: string | null): void => {
    problems.push({ ...positionAt(node.range?.[0] ?? 0), message, hint });
  };
  const visit = (node: Node | null, depth: number): void => {
    if (depth > maxDepth) {
      if (!tooDeep && node !== null) add(node, "is nested too deeply", null);
      tooDeep = true;
      sound = false;
      return;
    }
    if (yaml.isSeq(node)) for (const item of node.items) visit(item as Node | null, depth + 1);
    if (!yaml.isMap(node)) return;
    const seen = new Map<string, Node>();
    for (const pair of (node as MapNode).items) {
      const name = keyName(yaml, pair.key);
      if (name === null) {
        add(pair.key, "a key must be plain text", "remove the brackets or quotes around it");
        sound = false;
        continue;
      }
      const first = seen.get(name);
      if (first === undefined) seen.set(name, pair.key);
      else {
        const { line } = positionAt(first.range?.[0] ?? 0);
        add(pair.key, `duplicate key ${quote(name)}`, `it is already set in line ${line}`);
      }
      // Objects do not keep it as an own key everywhere, so it would vanish silently.
      if (name === "__proto__") add(pair.key, 'unknown key "__proto__"', "remove it");
      visit(pair.value, depth + 1);
    }
  };
  visit(root, 0);
  return { problems, sound, tooDeep };
}

/** Finds nodes by path. Called for a few hundred problems at most. */
class Finder {
  readonly #yaml: Yaml;
  readonly #document: Document<ParsedNode>;

  constructor(yaml: Yaml, document: Document<ParsedNode>) {
    this.#yaml = yaml;
    this.#document = document;
  }

  offset(path: Path, at: "key" | "value"): number {
    const { key, value } = this.#find(path);
    const node = at === "key" ? (key ?? value) : (value ?? key);
    return node?.range?.[0] ?? 0;
  }

  source(path: Path): string | null {
    const { value, depth } = this.#find(path);
    return depth === path.length && this.#yaml.isScalar(value) ? (value.source ?? null) : null;
  }

  firstAlias(): number {
    let offset = 0;
    this.#yaml.visit(this.#document, {
      Alias: (_, node) => {
        offset = node.range?.[0] ?? 0;
        return this.#yaml.visit.BREAK;
      },
    });
    return offset;
  }

  #find(path: Path): { key: Node | null; value: Node | null; depth: number } {
    let key: Node | null = null;
    let value: Node | null = this.#document.contents;
    let depth = 0;
    for (const segment of path) {
      const within: Node | null = this.#yaml.isAlias(value) ? (value.resolve(this.#document) ?? null) : value;
      if (this.#yaml.isSeq(within)) {
        const item = within.items[Number(segment)] as Node | undefined;
        if (item === undefined) break;
        [key, value] = [item, item];
      } else if (this.#yaml.isMap(within)) {
        const pair = (within as MapNode).items.findLast((one) => keyName(this.#yaml, one.key) === String(segment));
        if (pair === undefined) break;
        [key, value] = [pair.key, pair.value];
      } else break;
      depth++;
    }
    return { key, value, depth };
  }
}

function keyName(yaml: Yaml, key: Node): string | null {
  if (!yaml.isScalar(key)) return null;
  const { value } = key;
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" || typeof value === "bigint" ? String(value) : null;
}

/** The library reports an open quote at the end of the file; this finds where it was opened. */
function offsetOf(yaml: Yaml, document: Document<ParsedNode>, error: YAMLError): number {
  const end = error.pos[0];
  if (error.code !== "MISSING_CHAR" || !/quote/.test(error.message)) return end;
  let start = end;
  yaml.visit(document, {
    Scalar: (_, node) => {
      const quoted = node.type === "QUOTE_SINGLE" || node.type === "QUOTE_DOUBLE";
      if (quoted && node.range && node.range[0] < end) start = node.range[0];
    },
  });
  return start;
}

// Forbidden in YAML, and unsafe in messages on a terminal.
// eslint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

function controlMessage(character: string): string {
  return `contains the control character U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const empty: YamlText = {
  data: null,
  problems: [],
  sound: true,
  position: () => ({ line: 1, column: 1 }),
  source: () => null,
};

function unreadable(text: string, offset: number, message: string, hint: string | null): YamlText {
  const above = text.slice(0, offset).split("\n");
  const place = { line: above.length, column: (above.at(-1) ?? "").length + 1 };
  return { ...empty, problems: [{ ...place, message, hint }], sound: false };
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
}
