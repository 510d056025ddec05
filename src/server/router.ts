/** Finds the operation of a method and path in the contract, and reads what the URL carries. */
import type { IncomingMessage } from "node:http";
import type { Operation } from "../contract/operation.ts";
import { operation, operationNames, type OperationName } from "../contract/operations.ts";
import { quoted, Refusal } from "./response.ts";

export interface Match {
  name: OperationName;
  operation: Operation;
  params: Record<string, string>;
}

interface Pattern {
  segments: string[];
  byMethod: Map<string, OperationName>;
}

export type FindOperation = (method: string, path: string) => Match;

/** Returns the operation, or refuses: 404 for an unknown path, 405 with `Allow` for a method that the path lacks. */
export function createRouter(): FindOperation {
  const exact = new Map<string, Pattern>();
  const patterns: Pattern[] = [];
  for (const name of operationNames) {
    const { method, path } = operation(name);
    let pattern = exact.get(path);
    if (pattern === undefined) {
      pattern = { segments: path.split("/"), byMethod: new Map() };
      exact.set(path, pattern);
      if (path.includes("{")) patterns.push(pattern);
    }
    pattern.byMethod.set(method, name);
    if (method === "GET") pattern.byMethod.set("HEAD", name);
  }

  return (method, path) => {
    const segments = path.split("/");
    const pattern = exact.get(path) ?? patterns.find((each) => fits(each.segments, segments));
    if (pattern === undefined) throw notFound(method, path);
    const name = pattern.byMethod.get(method);
    if (name === undefined) {
      const allow = [...pattern.byMethod.keys()].join(", ");
      throw new Refusal("method-not-allowed", `${method} is not allowed for ${path}.`, {
        hint: `Allowed: ${allow}.`,
        headers: { Allow: allow },
      });
    }
    return { name, operation: operation(name), params: readParams(pattern.segments, segments) };
  };
}

export function notFound(method: string, path: string, hint = "GET /openapi.json lists all operations."): Refusal {
  return new Refusal("not-found", `Not found: ${method} ${quoted(path).slice(1, -1)}.`, { hint });
}

/** A misspelt query parameter is an error, not ignored. */
export function readQuery(known: Operation, search: string): Record<string, string> {
  const query: Record<string, string> = {};
  if (search === "") return query;
  const names = Object.keys(known.query ?? {});
  for (const [name, value] of new URLSearchParams(search)) {
    if (!names.includes(name)) {
      throw new Refusal("invalid", `Unknown query parameter ${quoted(name)}.`, {
        hint: names.length === 0 ? "This operation accepts none." : `Known: ${names.join(", ")}.`,
      });
    }
    if (Object.hasOwn(query, name)) throw new Refusal("invalid", `Duplicate query parameter ${quoted(name)}.`);
    query[name] = value;
  }
  return query;
}

function fits(pattern: string[], segments: string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, at) => (part.startsWith("{") ? segments[at] !== "" : part === segments[at]))
  );
}

function readParams(pattern: string[], segments: string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    if (!part.startsWith("{")) continue;
    try {
      params[part.slice(1, -1)] = decodeURIComponent(segments[at] ?? "");
    } catch (cause) {
      throw new Refusal("invalid", `Invalid percent-encoding in the URL: ${quoted(segments[at] ?? "")}.`, { cause });
    }
  }
  return params;
}

/** Not by `new URL`, which would resolve `..` before any check could see it. */
export function splitUrl(request: IncomingMessage): { path: string; search: string } {
  const url = request.url ?? "/";
  const at = url.indexOf("?");
  return at < 0 ? { path: url, search: "" } : { path: url.slice(0, at), search: url.slice(at + 1) };
}

export function readCursor(text: string | undefined): number | null {
  if (text === undefined) return null;
  const cursor = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(cursor)) {
    throw new Refusal("invalid", `\`after\` must be a cursor (an integer), not ${quoted(text)}.`);
  }
  return cursor;
}
