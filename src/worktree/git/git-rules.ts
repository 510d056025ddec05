/**
 * What git may do, by the kind of the call. git starts programs for hooks, filters, transports, credentials,
 * signatures, pagers and more, and a repository's configuration can name most of them. Everything that a kind does not
 * list here is off. See docs/decisions/0015-git-runs-nothing.md.
 */
import { isAbsolute, join } from "node:path";
import type { GitResult, GitCall } from "./git.ts";
import { readText } from "./git-files.ts";

type ReadGit = (kind: "read", args: readonly string[], call: GitCall) => Promise<Pick<GitResult, "stdout">>;

/** Newer git runs hooks that configuration names, whatever `core.hooksPath` is: switches one off by its key. */
export function hookOff(key: string): ConfigEntry[] {
  const name = /^hook\.(.*)\.[^.]+$/s.exec(key)?.[1];
  return name === undefined
    ? []
    : [
        [`hook.${name}.enabled`, "false"],
        [`hook.${name}.event`, ""],
      ];
}

/** For calls that write refs. Asks git only if a file of the repository's configuration may name a hook. */
export async function repositoryHooksOff(call: GitCall, ask: ReadGit): Promise<ConfigEntry[]> {
  const { gitDir, worktree, admin, workTree } = call;
  const of = worktree ?? admin;
  const main = of?.commonDir ?? gitDir;
  if (main === undefined) return [];
  const more = [main, ...(of === undefined ? [] : [of.admin])].map((folder) =>
    readText(join(folder, "config.worktree")),
  );
  // A worktree's git directory has its configuration elsewhere.
  if (![readText(join(main, "config")) ?? unknown, ...more].some(mayName)) return [];
  const where = { gitDir, worktree, admin, workTree };
  const given = Object.fromEntries(Object.entries(where).filter(([, value]) => value !== undefined));
  const { stdout } = await ask("read", ["config", "-z", "--name-only", "--get-regexp", String.raw`^hook\.`], given);
  return stdout.split("\0").flatMap(hookOff);
}

/** Close to the limit of `readText`: the rest may contain anything. */
const longText = 60_000;

const unknown = "include";

/** It may also include another file. */
function mayName(text: string | null): boolean {
  return text !== null && (text.length > longText || /hook|include/i.test(text));
}

/**
 * The environment of git and postCreate commands, an allow-list: a daemon started inside an agent, tmux or a git hook
 * would otherwise pass on GIT_DIR, TMUX or the agent's variables.
 */
const passedOn = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "TZ",
  "TMPDIR",
  "SSH_AUTH_SOCK",
  "GIT_CONFIG_GLOBAL",
  "GIT_CONFIG_SYSTEM",
  "GIT_CONFIG_NOSYSTEM",
  "GIT_EXEC_PATH",
  "GIT_SSL_CAINFO",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "NODE_EXTRA_CA_CERTS",
]);
const passedOnPrefixes = ["LC_", "XDG_"];
const proxies = /^(https?|no|all|ftp)_proxy$/i;

export function cleanEnvironment(from: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(from)) {
    if (value === undefined) continue;
    if (passedOn.has(name) || proxies.test(name) || passedOnPrefixes.some((prefix) => name.startsWith(prefix))) {
      kept[name] = value;
    }
  }
  return kept;
}

export type ConfigEntry = readonly [key: string, value: string];

/**
 * - `read` reads files, objects and refs.
 * - `write` writes objects, refs and worktree registrations, but no file of a worktree.
 * - `checkout` writes a worktree's files; it alone runs filters, those that filters.ts allows.
 * - `fill` clones a submodule from a directory of the same repository.
 * - `fetch` contacts a remote, from our own directory without the repository's configuration.
 */
export type GitKind = "read" | "write" | "checkout" | "fill" | "fetch";

interface Rules {
  /** For GIT_ALLOW_PROTOCOL, which configuration cannot override. */
  protocols: string;
  config: readonly ConfigEntry[];
  env: Readonly<Record<string, string>>;
}

/** Neither a transport nor a program can have this name. */
const noProtocol = "/";

/** Each key would otherwise let a repository's configuration start a program, or redirect git to another repository. */
const closed: readonly ConfigEntry[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.alternateRefsCommand", ""],
  ["protocol.allow", "never"],
  ["protocol.ext.allow", "never"],
  ["log.showSignature", "false"],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["gpg.program", "false"],
  ["gpg.openpgp.program", "false"],
  ["gpg.x509.program", "false"],
  ["gpg.ssh.program", "false"],
  ["gpg.ssh.defaultKeyCommand", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["status.submoduleSummary", "false"],
  // git would start itself inside a nested repository, with that one's configuration, to check for changes.
  ["diff.ignoreSubmodules", "dirty"],
  // Never use a bare repository inside a worktree.
  ["safe.bareRepository", "explicit"],
  ["init.templateDir", ""],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["advice.detachedHead", "false"],
];

/** For calls without a transport: no program to start even if GIT_ALLOW_PROTOCOL failed. */
const noTransport: readonly ConfigEntry[] = [
  ["core.sshCommand", "false"],
  ["credential.helper", ""],
];

const local: Rules = { protocols: noProtocol, config: noTransport, env: { GIT_SSH_COMMAND: "false" } };

const rules: Record<GitKind, Rules> = {
  read: local,
  write: local,
  // git-lfs downloads on its own, with your ssh and credentials: filters.ts sets those.
  checkout: { protocols: noProtocol, config: [], env: {} },
  fill: {
    protocols: "file",
    config: [...noTransport, ["protocol.file.allow", "always"]],
    env: { GIT_SSH_COMMAND: "false" },
  },
  fetch: { protocols: "https:ssh:http:git:file", config: [], env: {} },
};

/** In the environment rather than with `-c`: a filter's name may contain `=`, and git's children inherit it. */
export function gitEnvironment(kind: GitKind, more: readonly ConfigEntry[]): Record<string, string> {
  const { protocols, config: own, env: extra } = rules[kind];
  const config = [...closed, ...own, ...more];
  const passed = cleanEnvironment();
  const env: Record<string, string> = {
    ...passed,
    ...(passed["PATH"] === undefined ? {} : { PATH: absoluteOnly(passed["PATH"]) }),
    LC_ALL: "C",
    GIT_ALLOW_PROTOCOL: protocols,
    GIT_PROTOCOL_FROM_USER: "0",
    // A partial clone would fetch missing objects during any command, with a transport that its configuration names.
    GIT_NO_LAZY_FETCH: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "true",
    GIT_PAGER: "cat",
    GIT_EDITOR: "false",
    GIT_SEQUENCE_EDITOR: "false",
    // Reading must never write the index: an agent may be committing right now.
    GIT_OPTIONAL_LOCKS: "0",
    GIT_AUTHOR_NAME: "Holdfast",
    GIT_AUTHOR_EMAIL: "holdfast@localhost",
    GIT_COMMITTER_NAME: "Holdfast",
    GIT_COMMITTER_EMAIL: "holdfast@localhost",
    ...extra,
    GIT_CONFIG_COUNT: String(config.length),
  };
  for (const [index, [key, value]] of config.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}

/** git runs in a worktree: an entry such as `.` would start programs from there. */
function absoluteOnly(path: string): string {
  return path
    .split(":")
    .filter((entry) => isAbsolute(entry))
    .join(":");
}
