/** Finds the route of a path in the protocol's table. */
import { routes, type RouteName } from "../contract/http.ts";
import type { Route } from "../contract/route.ts";
import { quoted, Refusal } from "./refusal.ts";

export interface Match {
  name: RouteName;
  route: Route;
  params: Record<string, string>;
}

interface Pattern {
  segments: string[];
  byMethod: Map<string, RouteName>;
}

export type FindRoute = (method: string, path: string) => Match;

/** The found route, or a refusal: 404 for a path nobody has, 405 with `Allow` for a method it does not take. */
export function createRouter(table: Record<RouteName, Route> = routes): FindRoute {
  const exact = new Map<string, Pattern>();
  const patterns: Pattern[] = [];
  for (const [name, route] of Object.entries(table) as [RouteName, Route][]) {
    let pattern = exact.get(route.path);
    if (pattern === undefined) {
      pattern = { segments: route.path.split("/"), byMethod: new Map() };
      exact.set(route.path, pattern);
      if (route.path.includes("{")) patterns.push(pattern);
    }
    pattern.byMethod.set(route.method, name);
    if (route.method === "GET") pattern.byMethod.set("HEAD", name);
  }

  return (method, path) => {
    const segments = path.split("/");
    const pattern = exact.get(path) ?? patterns.find((each) => fits(each.segments, segments));
    if (pattern === undefined) throw nothingAt(method, path);
    const name = pattern.byMethod.get(method);
    if (name === undefined) {
      const allow = [...pattern.byMethod.keys()].join(", ");
      throw new Refusal("method-not-allowed", `${method} is not possible at ${path}.`, {
        hint: `Possible: ${allow}.`,
        headers: { Allow: allow },
      });
    }
    return { name, route: table[name], params: readParams(pattern.segments, segments) };
  };
}

export function nothingAt(method: string, path: string, hint = "GET /openapi.json lists what there is."): Refusal {
  return new Refusal("not-found", `There is nothing at ${method} ${quoted(path).slice(1, -1)}.`, { hint });
}

/** The table's query names are the only ones there are: a misspelt one is an error, not ignored. */
export function readQuery(route: Route, search: string): Record<string, string> {
  const query: Record<string, string> = {};
  if (search === "") return query;
  const known = Object.keys(route.query ?? {});
  for (const [name, value] of new URLSearchParams(search)) {
    if (!known.includes(name)) {
      throw new Refusal("invalid", `Unknown query parameter ${quoted(name)}.`, {
        hint: known.length === 0 ? "This route takes none." : `Known: ${known.join(", ")}.`,
      });
    }
    if (Object.hasOwn(query, name)) throw new Refusal("invalid", `Query parameter ${quoted(name)} is given twice.`);
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
      throw new Refusal("invalid", `The address holds a broken escape: ${quoted(segments[at] ?? "")}.`, { cause });
    }
  }
  return params;
}
