/** Reads a git repository's own files. It starts no process, so nothing in a hostile repository can run. */
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";

export const configName = "holdfast.yaml";

interface Remote {
  name: string;
  url: string;
}

/** Remotes in the order of the file; the first address of each. Includes and rewrites are not followed. */
export function parseRemotes(text: string): Remote[] {
  const remotes: Remote[] = [];
  let name: string | null = null;
  for (const line of text.split("\n")) {
    const section = sectionLine.exec(line);
    if (section !== null) {
      name = section[1]?.toLowerCase() === "remote" && section[2] !== undefined ? unescape(section[2]) : null;
      continue;
    }
    const url = urlLine.exec(line)?.[1];
    if (name === null || url === undefined || remotes.some((remote) => remote.name === name)) continue;
    remotes.push({ name, url: plainValue(url) });
  }
  return remotes;
}

export interface RemoteTracker {
  type: "github" | "gitlab";
  repo: string;
  /** Null on the public service. */
  baseUrl: string | null;
}

/**
 * The tracker of a remote's address, without the credentials in it.
 * @param hosts that the user's own config.yaml names.
 */
export function trackerOf(url: string, hosts: Readonly<Record<string, { type: string }>> = {}): RemoteTracker | null {
  const parts = scpLike.exec(url) ?? withScheme.exec(url);
  const host = parts?.[1]?.toLowerCase();
  const repo = parts?.[2]?.replace(/\/+$/, "").replace(/\.git$/, "");
  if (host === undefined || repo === undefined || !/^[\w.-]+(\/[\w.-]+)+$/.test(repo)) return null;
  // GitHub's name for ssh on port 443.
  if (host === "github.com" || host === "ssh.github.com") return github(repo, null);
  if (host === "gitlab.com" || host === "altssh.gitlab.com") return { type: "gitlab", repo, baseUrl: null };
  const known = Object.hasOwn(hosts, host) ? hosts[host]?.type : undefined;
  // The name selects the API only; it selects no variable.
  if (known === "github" || (known === undefined && host.startsWith("github.")))
    return github(repo, `https://${host}/api/v3`);
  if (known === "gitlab" || (known === undefined && host.startsWith("gitlab.")))
    return { type: "gitlab", repo, baseUrl: `https://${host}` };
  return null;
}

function github(repo: string, baseUrl: string | null): RemoteTracker | null {
  return repo.split("/").length === 2 ? { type: "github", repo, baseUrl } : null;
}

const sectionLine = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const urlLine = /^\s*url\s*=\s*(.*?)\s*$/i;
/** `git@host:owner/name.git`; a slash before the colon would make it a path. */
const scpLike = /^(?:[^/@:]+@)?([^/@:]+):(?!\/\/)\/?(.+)$/;
const withScheme = /^(?:https?|ssh|git|git\+ssh):\/\/(?:[^/@]*@)?([^/:]+)(?::\d+)?\/(.+)$/i;

function plainValue(text: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  return quoted === undefined ? text.replace(/\s+[#;].*$/, "") : unescape(quoted);
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, "$1");
}

export interface Repository {
  /** The requested directory, links resolved. */
  path: string;
  /** Contains HEAD. */
  gitDirectory: string;
  /** Contains refs and config; differs from `gitDirectory` in a linked worktree. */
  commonDirectory: string;
  bare: boolean;
}

export type RepositoryAt =
  | { is: "repository"; repository: Repository }
  | { is: "not"; why: string }
  /** Inside a repository. */
  | { is: "inside"; root: string };

export function repositoryAt(path: string): RepositoryAt {
  let real: string;
  try {
    real = realpathSync(path);
    if (!statSync(real).isDirectory()) return { is: "not", why: "it is not a directory" };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return {
      is: "not",
      why: code === "ENOENT" ? "there is no such directory" : `it cannot be read (${code ?? "unknown"})`,
    };
  }
  const found = readRepository(real);
  if (found !== null) return found;
  const root = repositoryRoot(dirname(real));
  return root === null ? { is: "not", why: "it has no .git" } : { is: "inside", root };
}

/** The nearest directory at or above `start` that has a `.git`, or null. */
export function repositoryRoot(start: string): string | null {
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    if (kindOf(join(directory, ".git")) !== null || isGitDirectory(directory)) return directory;
    if (dirname(directory) === directory) return null;
  }
}

/** The nearest holdfast.yaml from `start` up to the repository's root (or the top, outside any repository), or null. */
export function findConfig(start: string): string | null {
  const root = repositoryRoot(start);
  for (let directory = resolve(start); ; directory = dirname(directory)) {
    const file = join(directory, configName);
    if (existsSync(file)) return file;
    if (directory === root || dirname(directory) === directory) return null;
  }
}

function readRepository(path: string): RepositoryAt | null {
  const dotGit = join(path, ".git");
  const kind = kindOf(dotGit);
  if (kind === null) return isGitDirectory(path) ? found(path, path, true) : null;
  if (kind === "directory") {
    return isGitDirectory(dotGit) ? found(path, dotGit, false) : { is: "not", why: "its .git is damaged or empty" };
  }
  const target = /^gitdir: (.+?)\s*$/.exec(readSmall(dotGit) ?? "")?.[1];
  if (target === undefined) return { is: "not", why: "its .git file does not name a git directory" };
  const gitDirectory = isAbsolute(target) ? target : join(path, target);
  if (readSmall(join(gitDirectory, "HEAD")) !== null) return found(path, gitDirectory, false);
  return { is: "not", why: `its .git file names ${gitDirectory}, which is not a git directory` };
}

function found(path: string, gitDirectory: string, bare: boolean): RepositoryAt {
  const common = readSmall(join(gitDirectory, "commondir"))?.trim();
  const commonDirectory = common === undefined ? gitDirectory : resolve(gitDirectory, common);
  return { is: "repository", repository: { path, gitDirectory, commonDirectory, bare } };
}

function isGitDirectory(path: string): boolean {
  return (
    kindOf(join(path, "HEAD")) === "file" &&
    kindOf(join(path, "objects")) === "directory" &&
    kindOf(join(path, "refs")) === "directory"
  );
}

/**
 * The base of new branches: the remote's default, else main or master if only one of them exists, else the branch that
 * is checked out. Null if the files do not show it (a detached HEAD, the reftable format).
 */
export function defaultBranchOf(repository: Repository): string | null {
  const { commonDirectory, gitDirectory } = repository;
  for (const { name } of remotesByImportance(repository)) {
    const head = symbolic(join(commonDirectory, "refs/remotes", name, "HEAD"));
    const start = `refs/remotes/${name}/`;
    if (head?.startsWith(start)) return head.slice(start.length);
  }
  const usual = ["main", "master"].filter((name) => hasBranch(commonDirectory, name));
  if (usual.length === 1 && usual[0] !== undefined) return usual[0];
  // A linked worktree has its own branch; the main worktree is more reliable.
  const head = symbolic(join(commonDirectory, "HEAD")) ?? symbolic(join(gitDirectory, "HEAD"));
  const branch = head?.startsWith("refs/heads/") ? head.slice("refs/heads/".length) : null;
  return branch === ".invalid" ? null : branch;
}

/** @param hosts that the user's own config.yaml names. */
export function remoteTrackerOf(
  repository: Repository,
  hosts: Readonly<Record<string, { type: string }>> = {},
): RemoteTracker | null {
  const [first] = remotesByImportance(repository);
  return first === undefined ? null : trackerOf(first.url, hosts);
}

function remotesByImportance(repository: Repository) {
  const remotes = parseRemotes(readSmall(join(repository.commonDirectory, "config")) ?? "");
  const rank = (name: string): number => (name === "origin" ? 0 : name === "upstream" ? 1 : 2);
  return remotes.sort((a, b) => rank(a.name) - rank(b.name));
}

function hasBranch(commonDirectory: string, name: string): boolean {
  const ref = `refs/heads/${name}`;
  if (kindOf(join(commonDirectory, ref)) === "file") return true;
  return (readSmall(join(commonDirectory, "packed-refs")) ?? "").split("\n").some((line) => line.endsWith(` ${ref}`));
}

function symbolic(file: string): string | null {
  return /^ref: (\S+)\s*$/.exec(readSmall(file) ?? "")?.[1] ?? null;
}

/** packed-refs of a hundred thousand refs; longer files are ignored. */
const maxBytes = 16 * 1024 * 1024;

function readSmall(file: string): string | null {
  try {
    const stat = statSync(file);
    return stat.isFile() && stat.size <= maxBytes ? readFileSync(file, "utf8") : null;
  } catch {
    return null;
  }
}

function kindOf(path: string): "file" | "directory" | null {
  try {
    const stat = statSync(path);
    return stat.isDirectory() ? "directory" : stat.isFile() ? "file" : null;
  } catch {
    return null;
  }
}
