/** Explains a schema issue: what is wrong, and how to fix it. */
import type * as z from "zod/mini";
import { nearest } from "../base/nearest.ts";
import * as notifiers from "../integrations/notifiers/registry.ts";
import { safeName } from "./names.ts";
import { quote } from "./values.ts";
import type { Path } from "./yaml-text.ts";

export interface Explained {
  path: Path;
  at: "key" | "value";
  message: string;
  hint: string | null;
}

type Issue = z.core.$ZodIssue;

export interface IssueContext {
  schema: z.core.$ZodType;
  data: unknown;
  /** A scalar as it was typed. */
  source: (path: Path) => string | null;
}

/** Unknown keys reported per map. */
const maxKeys = 50;

export function explain(issue: Issue, context: IssueContext): Explained[] {
  const { path } = issue;
  if (issue.code === "unrecognized_keys") {
    return issue.keys.slice(0, maxKeys).map((key) => unknownKey(key, path, context));
  }
  const value = valueAt(context.data, path);
  const name = label(path);
  const at = (message: string, hint: string | null = null): Explained[] => [{ path, at: "value", message, hint }];
  if (issue.code === "invalid_key") return [{ path, at: "key", ...badKey(path) }];
  if (value === undefined) {
    const above = path.slice(0, -1);
    return [{ path: above, at: "key", message: `${label(above)} needs ${quote(String(path.at(-1)))}`, hint: null }];
  }
  if (value === null) {
    return [{ path, at: "key", message: `${name} has no value`, hint: "give it one, or remove the line" }];
  }
  if (issue.code === "invalid_type") {
    const expected = typeLabels[issue.expected] ?? issue.expected;
    return at(`${name} must be ${expected}, not ${shown(value, path)}`, typeHint(issue.expected, value, path, context));
  }
  if (issue.code === "invalid_value") {
    const valid = issue.values.map(String);
    const close = typeof value === "string" ? nearest(value, valid) : null;
    const hint = close === null ? null : `did you mean ${quote(close)}?`;
    return at(`${name} must be ${listed(valid)}, not ${shown(value, path)}`, hint);
  }
  if (issue.code === "too_small") {
    if (issue.origin === "number") return at(`${name} must be at least ${issue.minimum}, not ${shown(value, path)}`);
    return at(`${name} may not be empty`);
  }
  if (issue.code === "too_big") {
    if (issue.origin === "number") return at(`${name} must be at most ${issue.maximum}, not ${shown(value, path)}`);
    return at(`${name} is longer than ${issue.maximum} characters`);
  }
  // A short form or a map of keys: the type of the value shows which was meant.
  if (issue.code === "invalid_union") {
    const meant = typeof value === "object" ? issue.errors.at(-1) : issue.errors[0];
    return (meant ?? []).flatMap((one) => explain({ ...one, path: [...path, ...one.path] }, context));
  }
  if (issue.code === "invalid_format") return at(`${name} ${formatLabel(issue.format, path)}`);
  if (issue.code === "custom") {
    return at(`${name} ${issue.message}`, typeof issue.params?.["hint"] === "string" ? issue.params["hint"] : null);
  }
  return at(`${name} is not valid`);
}

/** `"kind"`, `entry 2 of "copy"`, `the file`. */
export function label(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return "the file";
  return typeof last === "number" ? `entry ${last + 1} of ${label(path.slice(0, -1))}` : quote(String(last));
}

function unknownKey(key: string, path: Path, context: IssueContext): Explained {
  const valid = keysOf(schemaAt(context.schema, path));
  const close = nearest(key, valid);
  const elsewhere = placesOf(context.schema, key);
  const other = close === null ? `valid here: ${valid.join(", ")}` : `did you mean ${quote(close)}?`;
  const hint = keyHints.get(key) ?? (elsewhere.length > 0 ? `it belongs under ${elsewhere.join(" or ")}` : other);
  return { path: [...path, key], at: "key", message: `unknown key ${quote(key)}`, hint };
}

const keyHints = new Map([
  ["<<", "merge keys are not supported; write the keys out"],
  ["projects", "define projects in the repository's holdfast.yaml"],
  ["trackers", "hosts and their variables belong in your own config.yaml"],
  ["permissions", "permission rules belong in your own config.yaml; a repository cannot grant permissions"],
]);

function badKey(path: Path): { message: string; hint: string } {
  const key = String(path.at(-1));
  const owner = path.at(-2);
  if (owner === "env") {
    return {
      message: `${quote(key)} is not the name of an environment variable`,
      hint: "use letters, digits and _, not starting with a digit",
    };
  }
  if (owner === "trackers") {
    return { message: `${quote(key)} is not a host`, hint: "write it as in an address, such as ghe.example.com" };
  }
  const what = owner === "agents" ? "an agent's name" : "a project id";
  return {
    message: `${quote(key)} is not ${what}`,
    hint: `use lower-case letters, digits, - and _, such as ${safeName(key)}`,
  };
}

const typeLabels: Record<string, string> = {
  string: "text",
  number: "an integer",
  int: "an integer",
  boolean: "true or false",
  array: "a list",
  object: "a map of keys",
  record: "a map of keys",
};

/** Variables and addresses may be secrets, and so may every setting of a notifier that is not marked as quotable. */
function isSecret([top, ...rest]: Path): boolean {
  if (top !== "notify") return rest.some((segment) => secretKeys.has(segment));
  const [name, ...field] = rest;
  return !Object.values(notifiers).some((one) => one.name === name && one.quotable.includes(field.join(".")));
}
const secretKeys = new Set<PropertyKey>(["env", "tokenEnv", "baseUrl"]);

function shown(value: unknown, path: Path): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map of keys";
  if (typeof value === "string") return isSecret(path) ? "text" : `the text ${quote(value)}`;
  if (typeof value === "boolean") return String(value);
  if (typeof value !== "number") return "this";
  return isSecret(path) ? "a number" : `the number ${value}`;
}

function typeHint(expected: string, value: unknown, path: Path, context: IssueContext): string | null {
  const scalar = typeof value === "number" || typeof value === "boolean";
  if (expected === "string" && scalar) {
    return isSecret(path) ? "put it in quotes" : `put it in quotes: ${quote(context.source(path) ?? String(value))}`;
  }
  if (expected === "array" && typeof value === "string")
    return isSecret(path) ? "write it as a list" : `write it as a list: [${quote(value)}]`;
  if (expected === "number" && typeof value === "string" && /^\d+$/.test(value)) return "remove the quotes";
  return null;
}

function formatLabel(format: string, path: Path): string {
  if (format === "url") return "must be a web address that starts with http:// or https://";
  return patternLabels[String(path.at(-1))] ?? "is not valid";
}

const patternLabels: Record<string, string> = {
  prefix: "must be lower-case letters and digits, start with a letter, and have at most 16 of them",
  tokenEnv: "must be the name of an environment variable, not the token itself",
  repo: "must look like owner/name",
  agent: "is not an agent's name: lower-case letters, digits, - and _",
};

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

export function valueAt(data: unknown, path: Path): unknown {
  let value = data;
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[segment];
  }
  return value;
}

function inner(schema: z.core.$ZodType): z.core.$ZodTypes["_zod"]["def"] {
  // eslint-disable-next-line no-underscore-dangle -- the library's only way to inspect a schema
  const { def } = (schema as z.core.$ZodTypes)._zod;
  if (def.type === "union") {
    const map = def.options.map((one) => inner(one)).find((one) => one.type === "object");
    return map ?? def;
  }
  return def.type === "optional" ? inner(def.innerType) : def;
}

export function schemaAt(schema: z.core.$ZodType, path: Path): z.core.$ZodType {
  let here = schema;
  for (const segment of path) {
    const def = inner(here);
    const next =
      def.type === "object"
        ? def.shape[String(segment)]
        : def.type === "record"
          ? def.valueType
          : def.type === "array"
            ? def.element
            : undefined;
    if (next === undefined) return here;
    here = next;
  }
  return here;
}

function keysOf(schema: z.core.$ZodType): string[] {
  const def = inner(schema);
  return def.type === "object" ? Object.keys(def.shape) : [];
}

/** Where a key would be valid: `defaults`, `projects.<id>`. Two levels, because deeper names are too common. */
function placesOf(root: z.core.$ZodType, key: string): string[] {
  const found: string[] = [];
  const top = inner(root);
  if (top.type !== "object") return found;
  for (const [name, schema] of Object.entries(top.shape)) {
    const def = inner(schema);
    const [where, target] = def.type === "record" ? [`${name}.<id>`, def.valueType] : [name, schema];
    if (keysOf(target).includes(key)) found.push(where);
  }
  return found;
}
