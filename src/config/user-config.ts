/** The person's own config.yaml, which need not exist. */
import type { ConfigCache } from "./cache.ts";
import { problemsError } from "./problem.ts";
import type { UserConfig } from "./schema.ts";

/** Throws a HoldfastError that names the lines that are wrong. */
export async function userConfig(cache: ConfigCache, file: string): Promise<UserConfig> {
  const loaded = await cache.load(file, "user");
  if (!loaded.ok) throw problemsError(loaded.problems);
  return loaded.config;
}
