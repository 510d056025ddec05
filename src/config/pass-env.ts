/**
 * Variables that configuration files name: `passEnv` for agents, those bound to trackers' hosts for the daemon alone.
 * The CLI reads them before it starts the daemon, because they have to come from the user's shell.
 */
import { readFileSync } from "node:fs";
import { readJson } from "../base/durable-file.ts";
import type { UserConfig } from "./schema.ts";
import type { Paths } from "../base/paths.ts";

export interface NamedVariable {
  /** Or a prefix that ends with `*`. */
  name: string;
  file: string;
}

/**
 * Of the user's file, and what the daemon last wrote down of the repositories' files that the user trusts: these are not
 * read here, because a hostile one must not choose what leaves the user's shell.
 */
export async function namedVariables(paths: Pick<Paths, "config" | "configFiles">): Promise<NamedVariable[]> {
  const known = readJson(paths.configFiles);
  const ofProjects = known.is === "known" && Array.isArray(known.value) ? known.value.filter(isNamed) : [];
  const found = [...(await namesIn(paths.config)), ...ofProjects];
  return found.filter(({ name }, at) => found.findIndex((other) => other.name === name) === at);
}

/** An older daemon wrote down the files instead. */
const isNamed = (value: unknown): value is NamedVariable =>
  typeof value === "object" &&
  value !== null &&
  typeof (value as NamedVariable).name === "string" &&
  typeof (value as NamedVariable).file === "string";

/** The YAML reader is a quarter of a command's time: it is loaded only for a file that mentions such a key. */
const mentions = /passEnv|tokenEnv|webhookSecretEnv/;

/** A file that is missing or wrong names none. */
async function namesIn(file: string): Promise<NamedVariable[]> {
  try {
    if (!mentions.test(readFileSync(file, "utf8"))) return [];
  } catch {
    return [];
  }
  const { loadConfig } = await import("./load.ts");
  const loaded = await loadConfig(file, "user");
  if (!loaded.ok) return [];
  const { defaults, trackers = {} }: UserConfig = loaded.config;
  const names = [
    ...(defaults?.passEnv ?? []),
    ...Object.values(trackers).flatMap(({ tokenEnv, webhookSecretEnv }) =>
      [tokenEnv, webhookSecretEnv].flatMap((name) => name ?? []),
    ),
  ];
  return names.map((name) => ({ name, file }));
}
