/**
 * Variables that configuration files name: `passEnv` for agents, `tokenEnv` and `webhookSecretEnv` for the daemon alone.
 * The CLI reads them before it starts the daemon, because they have to come from the user's shell.
 */
import { readFileSync } from "node:fs";
import { readJson } from "../base/durable-file.ts";
import type { Paths } from "../base/paths.ts";

export interface NamedVariable {
  /** Or a prefix that ends with `*`. */
  name: string;
  file: string;
}

/** Of the user's file and those of the registered projects. A file that is missing or wrong names none. */
export async function namedVariables(paths: Pick<Paths, "config" | "configFiles">): Promise<NamedVariable[]> {
  const known = readJson(paths.configFiles);
  const files = known.is === "known" && Array.isArray(known.value) ? known.value.filter(isText) : [];
  const found = [
    ...(await namesIn(paths.config, "user")),
    ...(await Promise.all(files.map((file) => namesIn(file, "project")))).flat(),
  ];
  return found.filter(({ name }, at) => found.findIndex((other) => other.name === name) === at);
}

const isText = (value: unknown): value is string => typeof value === "string";

/** The YAML reader is a quarter of a command's time: it is loaded only for a file that mentions such a key. */
const mentions = /passEnv|tokenEnv|webhookSecretEnv/;

async function namesIn(file: string, kind: "user" | "project"): Promise<NamedVariable[]> {
  try {
    if (!mentions.test(readFileSync(file, "utf8"))) return [];
  } catch {
    return [];
  }
  const { loadConfig, loadUserConfig } = await import("./load.ts");
  const loaded = await (kind === "user" ? loadUserConfig(file) : loadConfig(file));
  if (!loaded.ok) return [];
  const projects = "projects" in loaded.config ? Object.values(loaded.config.projects ?? {}) : [];
  const names = [
    ...(loaded.config.defaults?.passEnv ?? []),
    ...projects.flatMap(({ passEnv = [], tracker }) => [
      ...passEnv,
      ...[tracker?.tokenEnv, tracker?.webhookSecretEnv].flatMap((name) => name ?? []),
    ]),
  ];
  return names.map((name) => ({ name, file }));
}
