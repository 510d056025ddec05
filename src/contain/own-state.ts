/**
 * What agents store in a home, as data. A contained session has its own folders instead: settings and hooks planted
 * there run in no other session, and `rm -rf ~` deletes no other conversation. Credentials are the real files, because
 * agents renew tokens in them, which invalidates the old ones.
 */
import { cpSync, lstatSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

interface OwnFolder {
  /** Relative to the home. */
  name: string;
  /** The agent's variable that names it, if any. */
  variable?: string;
  /** The variable that names the folder around it, such as XDG_DATA_HOME. */
  around?: string;
  /** Copied at the session's first launch; `~/x` is relative to the home, `.` is all of it. */
  copy: readonly string[];
  share: readonly string[];
}

const folders: Readonly<Record<string, readonly OwnFolder[]>> = {
  claude: [
    {
      name: ".claude",
      variable: "CLAUDE_CONFIG_DIR",
      share: [".credentials.json"],
      copy: [
        "settings.json",
        ".claude.json",
        "~/.claude.json",
        "CLAUDE.md",
        "hooks",
        "commands",
        "agents",
        "skills",
        "plugins",
      ],
    },
  ],
  codex: [
    {
      name: ".codex",
      variable: "CODEX_HOME",
      share: ["auth.json"],
      copy: ["config.toml", "AGENTS.md", "hooks.json", "rules", "prompts", "skills"],
    },
  ],
  gemini: [
    {
      name: ".gemini",
      share: ["oauth_creds.json"],
      copy: [
        "settings.json",
        "GEMINI.md",
        "trustedFolders.json",
        "google_accounts.json",
        "installation_id",
        "extensions",
        "commands",
        "policies",
      ],
    },
  ],
  opencode: [
    { name: ".local/share/opencode", around: "XDG_DATA_HOME", share: ["auth.json"], copy: [] },
    { name: ".local/state/opencode", around: "XDG_STATE_HOME", share: [], copy: [] },
    { name: ".cache/opencode", around: "XDG_CACHE_HOME", share: [], copy: [] },
    { name: ".config/opencode", around: "XDG_CONFIG_HOME", share: [], copy: ["."] },
  ],
  demo: [{ name: ".local/state/holdfast-demo", around: "XDG_STATE_HOME", share: [], copy: [] }],
};

export interface OwnMount {
  /** Outside. */
  from: string;
  /** Inside. */
  to: string;
}

export interface OwnState {
  mounts: OwnMount[];
  env: Record<string, string>;
}

/** Creates an agent's own folders for the session and returns their mounts. None for an unknown agent. */
export function ownState(agent: string, ownHome: string, env: Readonly<Record<string, string>>): OwnState {
  const home = env["HOME"] ?? "/";
  const state: OwnState = { mounts: [], env: {} };
  for (const folder of folders[agent] ?? []) {
    const real = placeOf(folder, home, env);
    const own = join(ownHome, folder.name);
    takeOver(home, real, own, folder.copy);
    state.mounts.push({ from: own, to: real });
    if (folder.variable !== undefined) state.env[folder.variable] = real;
    for (const name of folder.share) {
      if (statSync(join(real, name), { throwIfNoEntry: false })?.isFile() !== true) continue;
      clearPlanted(join(own, name));
      state.mounts.push({ from: join(real, name), to: join(real, name) });
    }
  }
  return state;
}

function placeOf(
  { name, variable = "", around = "" }: OwnFolder,
  home: string,
  env: Readonly<Record<string, string>>,
): string {
  const named = env[variable] ?? "";
  if (named !== "") return named;
  const outer = env[around] ?? "";
  return outer === "" ? join(home, name) : join(outer, basename(name));
}

function takeOver(home: string, real: string, own: string, names: readonly string[]): void {
  if (lstatSync(own, { throwIfNoEntry: false })?.isDirectory() === true) return;
  mkdirSync(dirname(own), { recursive: true, mode: 0o700 });
  // By rename: an interrupted copy must not count.
  const fresh = `${own}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  for (const name of names) {
    const from = name.startsWith("~/") ? join(home, name.slice(2)) : join(real, name);
    const to = name === "." ? fresh : join(fresh, basename(name));
    if (statSync(from, { throwIfNoEntry: false }) === undefined) continue;
    cpSync(from, to, { recursive: true, force: false, dereference: true, filter: isPlain });
  }
  renameSync(fresh, own);
}

/** Sockets and pipes cannot be copied, and a dangling link is not a setting. */
function isPlain(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true || stat?.isDirectory() === true;
}

/** bwrap creates the file it mounts on, and would create it wherever a link of the agent's leads. */
function clearPlanted(path: string): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat !== undefined && !stat.isFile()) rmSync(path, { recursive: true, force: true });
}
