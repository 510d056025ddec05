/** Writes a first holdfast.yaml: the few keys that matter, each with a comment. */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { createDurable } from "../base/durable-file.ts";
import { idsWithModel } from "../agents/registry.ts";
import { prefixFor, safeName, unused } from "./names.ts";
import { configName, defaultBranchOf, repositoryAt } from "./repository.ts";
import { builtInDefaults } from "./schema.ts";

export interface FreshConfig {
  directory: string;
  /** Ids of agents that are installed, best first. */
  agentsFound: readonly string[];
  /** Ids of other registered projects: a second `my-app` is called `my-app-2`. */
  takenIds?: readonly string[];
  /** The project's prefix, if it is registered. */
  prefix?: string | undefined;
  /** Prefixes of other registered projects. */
  takenPrefixes?: readonly string[];
  /** The shipped JSON Schema; found next to the running program by default. Null omits the line. */
  schemaFile?: string | null;
}

export function makeConfig(fresh: FreshConfig): string {
  const directory = resolve(fresh.directory);
  const taken = fresh.takenIds ?? [];
  const id = unused(safeName(basename(directory).replace(/\.git$/, "")), (name) => taken.includes(name), "-");
  const schema = schemaLine(directory, fresh.schemaFile === undefined ? shippedSchema() : fresh.schemaFile);
  const [agent = builtInDefaults.agent] = fresh.agentsFound;
  const prefix = fresh.prefix ?? unused(prefixFor(id), (name) => (fresh.takenPrefixes ?? []).includes(name));
  const at = repositoryAt(directory);
  const branch = at.is === "repository" ? defaultBranchOf(at.repository) : null;
  const lines = [
    ...schema,
    "# How agents work on this repository. Every key is optional.",
    "",
    "defaults:",
    // The file is committed: it must not mention this machine.
    noted(`  agent: ${scalar(agent)}`, `agent of new sessions: ${idsWithModel.join(", ")} or your own`),
    noted("  kind: terminal", "terminal: the agent's own screen; chat: structured, in the dashboard"),
    noted("  # idleStopMinutes: 60", "stop sessions idle for this long; the next prompt restarts them"),
    "",
    "projects:",
    `  ${id}:`,
    noted("    path: .", "relative to this file"),
    // Commented out: a prefix that is set may collide with another project's; a derived one gets a number.
    noted(`    # prefix: ${prefix}`, `sessions are called ${prefix}-1, ${prefix}-2, ...`),
    branch === null
      ? noted("    # defaultBranch: main", "base of new branches")
      : noted(`    defaultBranch: ${scalar(branch)}`, "base of new branches"),
    noted(`    # symlinks: [${suggested(directory, linkable, "node_modules")}]`, "linked from here into each worktree"),
    noted(`    # copy: [${suggested(directory, copyable, ".env")}]`, "copied from here into each worktree"),
    noted(`    # postCreate: [${JSON.stringify(setUp(directory))}]`, "run in each new worktree"),
  ];
  return `${lines.join("\n")}\n`;
}

export type WrittenConfig = { is: "written"; file: string } | { is: "exists"; file: string };

/** Never overwrites an existing file. */
export function writeConfig(fresh: FreshConfig): WrittenConfig {
  const file = join(resolve(fresh.directory), configName);
  const text = makeConfig(fresh);
  if (!createDurable(file, text, 0o644)) return { is: "exists", file };
  return { is: "written", file };
}

/** The schema that came with the running program (`dist/` and `schema/` are siblings), or null. */
export function shippedSchema(): string | null {
  const program = process.argv[1];
  if (program === undefined) return null;
  try {
    const file = join(dirname(realpathSync(program)), "../schema/holdfast.schema.json");
    return existsSync(file) ? file : null;
  } catch {
    return null;
  }
}

/** Only if the schema is installed below the project: any other path is specific to this machine. */
function schemaLine(directory: string, schemaFile: string | null): string[] {
  if (schemaFile === null || !isBelow(directory, schemaFile)) return [];
  return [`# yaml-language-server: $schema=./${relative(directory, schemaFile).split("\\").join("/")}`];
}

export function isBelow(directory: string, file: string): boolean {
  const path = relative(resolve(directory), file);
  return !path.startsWith("..") && !isAbsolute(path);
}

const noteColumn = 36;

function noted(line: string, note: string): string {
  return `${line.padEnd(noteColumn)} # ${note}`;
}

/** Plain if YAML reads it as text, quoted otherwise: `on` and `1.0` are branch names too. */
function scalar(text: string): string {
  const plain = /^[A-Za-z][\w./-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text);
  return plain ? text : JSON.stringify(text);
}

const linkable = ["node_modules", ".venv", "vendor"];
const copyable = [".env", ".env.local"];

function suggested(directory: string, names: readonly string[], otherwise: string): string {
  const there = names.filter((name) => existsSync(join(directory, name)));
  return there.length === 0 ? otherwise : there.join(", ");
}

const setUps: readonly (readonly [file: string, command: string])[] = [
  ["pnpm-lock.yaml", "pnpm install --frozen-lockfile"],
  ["yarn.lock", "yarn install --immutable"],
  ["package-lock.json", "npm ci"],
  ["uv.lock", "uv sync"],
  ["requirements.txt", "python3 -m venv .venv"],
  ["go.mod", "go mod download"],
  ["Cargo.toml", "cargo fetch"],
];

function setUp(directory: string): string {
  return setUps.find(([file]) => existsSync(join(directory, file)))?.[1] ?? "npm ci";
}
