/** Reads a configuration file, parsed again only if it changed. All problems are reported together, each with its line. */
import * as z from "zod/mini";
import { configSchema, userConfigSchema, type HoldfastConfig } from "./schema.ts";
import { explain, schemaAt, valueAt } from "./explain.ts";
import { byPosition, type Problem, readConfigFile, type FileText, isSettled, stampOf, problemsError } from "./file.ts";
import { quote } from "./values.ts";
import { readYaml, type Path, type YamlText } from "./yaml-text.ts";
import { stat } from "node:fs/promises";

interface Entry {
  key: string;
  settled: boolean;
  loaded: Loaded;
}

export class ConfigCache {
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  async load(file: string, kind: ConfigKind = "project"): Promise<Loaded> {
    const entry = this.#entries.get(file);
    if (entry?.settled === true && entry.key === (await keyOf(file))) return entry.loaded;
    const startedAt = this.#now();
    const read = await readConfigFile(file);
    const loaded = await interpret(file, read, kind);
    const stamp = read.is === "absent" ? null : read.stamp;
    if (stamp === null) this.#entries.delete(file);
    else this.#entries.set(file, { key: stamp.key, settled: isSettled(stamp, startedAt), loaded });
    return loaded;
  }

  /** Throws a HoldfastError with the lines that are wrong. */
  async require(file: string, kind: ConfigKind = "project"): Promise<Readable> {
    const loaded = await this.load(file, kind);
    if (!loaded.ok) throw problemsError(loaded.problems);
    return loaded;
  }
}

async function keyOf(file: string): Promise<string | null> {
  try {
    return stampOf(await stat(file, { bigint: true })).key;
  } catch {
    return null;
  }
}

export interface Readable {
  ok: true;
  file: string;
  config: HoldfastConfig;
  /** Creates one at a key's position, for problems found later (a path that is not a repository). */
  problem(path: Path, message: string, hint: string | null): Problem;
}

/** Both kinds have the wider type: the user's file has no projects. */
export type Loaded = Readable | { ok: false; file: string; problems: Problem[] };

/** `project`: a repository's holdfast.yaml. `user`: the user's own config.yaml, which may not exist. */
export type ConfigKind = "project" | "user";

/** More than anyone reads at once. */
const maxProblems = 50;

export async function loadConfig(file: string, kind: ConfigKind = "project"): Promise<Loaded> {
  return interpret(file, await readConfigFile(file), kind);
}

export async function interpret(file: string, read: FileText, kind: ConfigKind): Promise<Loaded> {
  if (read.is === "refused") return { ok: false, file, problems: [read.problem] };
  if (read.is === "text") return parseConfig(file, read.text, kind);
  if (kind === "user") return parseConfig(file, "", kind);
  const problem = { file, line: 1, column: 1, message: "the file does not exist", hint: "create one: holdfast init" };
  return { ok: false, file, problems: [problem] };
}

export async function parseConfig(file: string, text: string, kind: ConfigKind = "project"): Promise<Loaded> {
  const yaml = await readYaml(text);
  const schema = kind === "user" ? userConfigSchema : configSchema;
  const checked = check(schema, yaml);
  const problems = [...yaml.problems, ...checked.problems];
  if (problems.length === 0) {
    const problem = (path: Path, message: string, hint: string | null): Problem => ({
      file,
      ...yaml.position(path, "value"),
      message,
      hint,
    });
    return { ok: true, file, config: checked.config, problem };
  }
  const sorted = problems
    .map(({ line, column, message, hint }) => ({ file, line, column, message, hint }))
    .sort(byPosition)
    .slice(0, maxProblems);
  return { ok: false, file, problems: sorted };
}

type Schema = typeof configSchema | typeof userConfigSchema;

function check(schema: Schema, yaml: YamlText) {
  const data = fillEmpty(schema, yaml.data);
  const result = z.safeParse(schema, data);
  const context = { schema, data, source: yaml.source };
  // Below the first syntax error the structure is a guess, so only names above it are reported.
  const end = yaml.sound ? Infinity : Math.min(...yaml.problems.map((problem) => problem.line));
  const problems = (result.success ? [] : result.error.issues)
    .flatMap((issue) => [issue, ...behindBadKey(schema, data, issue)])
    .filter((issue) => yaml.sound || issue.code === "unrecognized_keys")
    .slice(0, maxProblems * 4)
    .flatMap((issue) => explain(issue, context))
    .map(({ path, at, message, hint }) => ({ ...yaml.position(path, at), message, hint }))
    .filter((problem) => problem.line < end && !yaml.problems.some((other) => samePosition(other, problem)));
  const config: HoldfastConfig = result.success ? result.data : {};
  return { config, problems: [...problems, ...(yaml.sound ? samePrefix(data, yaml) : [])] };
}

/** The schema skips the value of an invalid key; both are reported together. */
function behindBadKey(schema: Schema, data: unknown, issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== "invalid_key") return [];
  const result = z.safeParse(schemaAt(schema, issue.path), valueAt(data, issue.path));
  return result.success
    ? []
    : result.error.issues.map((inside) => ({ ...inside, path: [...issue.path, ...inside.path] }));
}

function samePosition(a: { line: number; column: number }, b: { line: number; column: number }): boolean {
  return a.line === b.line && a.column === b.column;
}

/** `env:` with all its lines commented out is an empty map, not a mistake. */
function fillEmpty(schema: Schema, data: unknown): unknown {
  const root = { data: data ?? {} };
  // A filled map can contain another empty one; each round goes one level down.
  for (let round = 0; round < maxLevels; round++) {
    const result = z.safeParse(schema, root.data);
    const empty = (result.success ? [] : result.error.issues).filter((issue) => issue.code === "invalid_type");
    let filled = false;
    for (const issue of empty) {
      const { expected, path } = issue;
      const value = expected === "array" ? [] : expected === "object" || expected === "record" ? {} : null;
      if (value !== null && putWhereNull(root.data, path, value)) filled = true;
    }
    if (!filled) break;
  }
  return root.data;
}

const maxLevels = 6;

function putWhereNull(data: unknown, path: Path, value: unknown): boolean {
  let owner = data;
  for (const segment of path.slice(0, -1)) owner = (owner as Record<PropertyKey, unknown>)[segment];
  const key = path.at(-1);
  if (key === undefined || typeof owner !== "object" || owner === null || !Object.hasOwn(owner, key)) return false;
  const map = owner as Record<PropertyKey, unknown>;
  if (map[key] !== null) return false;
  map[key] = value;
  return true;
}

/** Session ids start with the prefix: two projects with the same one would collide. */
function samePrefix(data: unknown, yaml: YamlText) {
  const projects = valueAt(data, ["projects"]);
  const owners = new Map<string, string>();
  return Object.keys(typeof projects === "object" && projects !== null ? projects : {}).flatMap((id) => {
    const prefix = valueAt(projects, [id, "prefix"]);
    if (typeof prefix !== "string") return [];
    const owner = owners.get(prefix);
    if (owner === undefined) {
      owners.set(prefix, id);
      return [];
    }
    const message = `prefix ${quote(prefix)} is already used by project ${quote(owner)}`;
    return [{ ...yaml.position(["projects", id, "prefix"], "value"), message, hint: "choose another" }];
  });
}
