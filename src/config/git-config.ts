/** The few things of a repository's own `config` file that we need, read without running git. */
export interface Remote {
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
 * The tracker that belongs to a remote's address. Credentials in the address are never taken along.
 * @param hosts that the user's own config.yaml names.
 */
export function trackerOf(url: string, hosts: Readonly<Record<string, { type: string }>> = {}): RemoteTracker | null {
  const parts = scpLike.exec(url) ?? withScheme.exec(url);
  const host = parts?.[1]?.toLowerCase();
  const repo = parts?.[2]?.replace(/\/+$/, "").replace(/\.git$/, "");
  if (host === undefined || repo === undefined || !/^[\w.-]+(\/[\w.-]+)+$/.test(repo)) return null;
  // GitHub answers ssh on port 443 under this name.
  if (host === "github.com" || host === "ssh.github.com") return github(repo, null);
  if (host === "gitlab.com" || host === "altssh.gitlab.com") return { type: "gitlab", repo, baseUrl: null };
  const known = Object.hasOwn(hosts, host) ? hosts[host]?.type : undefined;
  // A name alone says which API to speak; no variable follows from it.
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
