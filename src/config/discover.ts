/** Finds the configuration and the projects of a directory, and keeps registered ids and prefixes stable. */
import { homedir } from "node:os";
import { existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { ProjectRow } from "../ports/store.ts";
import { HoldfastError } from "../contract/errors.ts";
import { asProjectId } from "../contract/ids.ts";
import { type ConfigCache, type Readable } from "./load.ts";
import { prefixFor, safeName, unused } from "./names.ts";
import { problemsError, type Problem } from "./file.ts";
import { configName, remoteTrackerOf, repositoryAt, type Repository } from "./repository.ts";
import { resolvePath, resolveProject, type ResolvedProject, needsRepo } from "./resolve.ts";
import type { HoldfastConfig, UserConfig } from "./schema.ts";
import { isWithin, noFile } from "./trust.ts";

export interface DiscoverOptions {
  /** The user's own config.yaml; it may not exist. */
  userFile: string;
  cache: ConfigCache;
  home?: string;
  /** Let this file take over projects that another file describes. */
  move?: boolean;
}

/** A registered project. */
export type Registered = Pick<ProjectRow, "id" | "path" | "prefix" | "configFile">;

/** The projects of `<path>/holdfast.yaml`, or the repository itself with defaults. Throws a HoldfastError. */
export async function projectsAt(
  path: string,
  taken: readonly Registered[],
  options: DiscoverOptions,
): Promise<ResolvedProject[]> {
  const { cache, move = false } = options;
  const user: UserConfig = (await cache.require(options.userFile, "user")).config;
  const file = configAt(path);
  const shared = { id: null, taken, user, move };
  if (file === null) return [named({ ...shared, repository: requireRepository(path), file, config: {} })];
  const loaded = await cache.require(file);
  const { config } = loaded;
  const ids = Object.keys(config.projects ?? {});
  if (ids.length === 0) return [named({ ...shared, repository: requireRepository(dirname(file)), file, config })];
  const home = options.home ?? homedir();
  const checked = ids.map((id) => locate(loaded, id, home, user));
  const problems = checked.flatMap((found) => ("problem" in found ? [found.problem] : []));
  if (problems.length > 0) throw problemsError(problems);
  const known = [...taken];
  return checked.flatMap((found) => {
    if ("problem" in found) return [];
    const project = named({ ...shared, ...found, file, config, taken: known });
    known.push(project);
    return [project];
  });
}

/** The configuration file of a path, or null. The path may be the file itself. */
export function configAt(path: string): string | null {
  const real = realOrGiven(path);
  if (basename(real) === configName && isFile(real)) return real;
  const file = join(real, configName);
  if (existsSync(file)) return file;
  const other = join(real, "holdfast.yml");
  if (!existsSync(other)) return null;
  throw new HoldfastError("invalid", `${other} is ignored.`, { hint: `Rename it to ${configName}.` });
}

export function requireRepository(path: string): Repository {
  const at = repositoryAt(path);
  if (at.is === "repository") return at.repository;
  if (at.is === "inside") {
    throw new HoldfastError("invalid", `${resolve(path)} is not a git repository, but inside one.`, {
      hint: `Use its root: ${at.root}`,
    });
  }
  throw new HoldfastError("invalid", `${resolve(path)} is not a git repository: ${at.why}.`, {
    hint: "Pass the path of a repository, or run `git init` there.",
  });
}

type Located = { id: string; repository: Repository } | { problem: Problem };

function locate(loaded: Readable, id: string, home: string, user: UserConfig): Located {
  const project = loaded.config.projects?.[id];
  const path = resolvePath(project?.path ?? ".", loaded.file, home);
  const at = repositoryAt(path);
  const wrong = (key: "path" | "tracker", message: string, hint: string | null): Located => {
    const where = project?.[key] === undefined ? ["projects", id] : ["projects", id, key];
    return { problem: loaded.problem(where, message, hint) };
  };
  // Otherwise a cloned repository could configure the sessions of another one.
  if (!isWithin(dirname(loaded.file), path)) {
    return wrong("path", `${path} is outside the directory of this file`, "register that repository itself");
  }
  if (at.is === "inside") {
    return wrong("path", `${path} is not a git repository, but inside one`, `use its root: ${at.root}`);
  }
  if (at.is === "not") return wrong("path", `${path} is not a git repository: ${at.why}`, null);
  if (needsRepo(project?.tracker, remoteTrackerOf(at.repository, user.trackers))) {
    return wrong("tracker", '"tracker" needs "repo"', "it cannot be detected from the origin remote");
  }
  return { id, repository: at.repository };
}

interface Naming {
  repository: Repository;
  /** Null: from the directory's name. */
  id: string | null;
  file: string | null;
  config: HoldfastConfig;
  taken: readonly Registered[];
  user: UserConfig;
  move: boolean;
}

/** A registered project stays with its file: adding one repository must not change another one's settings. */
function refuseTakeover(before: Registered, file: string | null): void {
  const { id, path, configFile } = before;
  if (configFile === file) return;
  if (configFile === null ? dirname(file ?? "") === path : file === null && !existsSync(configFile)) return;
  // Earlier versions allowed a file to describe repositories outside its directory.
  if (configFile !== null && !isWithin(dirname(configFile), path)) return;
  throw new HoldfastError(
    "conflict",
    configFile === null
      ? `Project ${id} is registered without a file; ${file ?? configName} would take it over.`
      : `Project ${id} is described by ${configFile}, not by ${file ?? path}.`,
    { hint: "To move it, run `holdfast project add` with --move." },
  );
}

function named(naming: Naming): ResolvedProject {
  const { repository, taken, config, user, file } = naming;
  const { path } = repository;
  const before = taken.find((row) => row.path === path && (naming.id === null || row.id === naming.id));
  if (before !== undefined && !naming.move) refuseTakeover(before, file);
  const own =
    naming.id ?? before?.id ?? unused(safeName(nameOf(repository)), (id) => taken.some((row) => row.id === id), "-");
  const elsewhere = taken.find((row) => row.id === own && row.path !== path);
  if (elsewhere !== undefined) {
    throw new HoldfastError("conflict", `Project ${own} is already registered, for ${elsewhere.path}.`, {
      hint: `Give it another id in ${file ?? configName}, or run \`holdfast project rm ${own}\`.`,
    });
  }
  const others = taken.filter((row) => row.id !== own);
  const configured = config.projects?.[own]?.prefix;
  const owner = others.find((row) => row.prefix === configured);
  if (configured !== undefined && owner !== undefined) {
    throw new HoldfastError(
      "conflict",
      `Prefix ${configured} of project ${own} is already used by project ${owner.id}.`,
      {
        hint: `Set another prefix in ${file ?? configName}.`,
      },
    );
  }
  // A derived prefix must not take one that a later project of the file sets.
  const asked = new Set(Object.values(config.projects ?? {}).map((project) => project.prefix));
  const isTaken = (prefix: string): boolean => asked.has(prefix) || others.some((row) => row.prefix === prefix);
  const prefix = configured ?? before?.prefix ?? unused(prefixFor(own), isTaken);
  const remote = remoteTrackerOf(repository, user.trackers);
  // Only the names matter here; trust is checked when the settings are read.
  return resolveProject({ id: asProjectId(own), path, prefix, file, config, trust: noFile.trust, user, remote });
}

function nameOf(repository: Repository): string {
  return basename(repository.path).replace(/\.git$/, "");
}

function realOrGiven(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
