/**
 * All paths. `HOLDFAST_HOME` puts everything below one directory, to keep homes apart; otherwise the XDG directories
 * are used.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { digestOf } from "./digest.ts";

export interface Paths {
  /** Identifies this installation to the user: the state directory. */
  home: string;
  config: string;
  database: string;
  backups: string;
  lock: string;
  reserve: string;
  /** For the CLI to find the daemon. */
  daemonFile: string;
  /** The options of the last start, replayed by the next one. */
  launchFile: string;
  token: string;
  passphrase: string;
  /** Recognizes the same passphrase in a later start, and records whether it is weak. */
  passphraseMark: string;
  /** The key for pushes to browsers, and their subscriptions. */
  push: string;
  /** Values of projects' `env`, for when their file is broken. */
  projectEnv: string;
  logs: string;
  builds: string;
  worktrees: string;
  trash: string;
  workers: string;
  /** One directory per contained session: its agent's own state, and its commits. */
  contained: string;
  /** Configuration files of the registered projects, for the CLI that starts the daemon. */
  configFiles: string;
  /** One directory per launch, for the files that hooks write. */
  launches: string;
  tmux: string;
  /**
   * Our own tmux server's socket name, derived from the path of the home's first start: a moved home finds its
   * agents.
   */
  readonly tmuxSocket: string;
  /** Contains that name, and the home's id in its second line, once the home was started. */
  tmuxSocketName: string;
  run: string;
  socket: string;
  /** The agents' socket, next to the other one; its callers are never the user. */
  agentsSocket: string;
  /** Why the sockets are not in their usual directory, or null. */
  socketMoved: string | null;
}

/** Some Node versions silently truncate longer paths, others refuse them. */
export const maxSocketBytes = 107;

/** Loaded on demand: the CLI's fastest commands do without (bench/cli.ts). */
const os = () => process.getBuiltinModule("node:os");

export function resolvePaths(env: NodeJS.ProcessEnv = process.env): Paths {
  const own = env["HOLDFAST_HOME"];
  const user = env["HOME"] ?? os().homedir();
  const home =
    own === undefined || own === ""
      ? join(xdg(env["XDG_STATE_HOME"]) ?? join(user, ".local/state"), "holdfast")
      : resolve(own);
  const separate = own === undefined || own === "";
  const data = separate ? join(xdg(env["XDG_DATA_HOME"]) ?? join(user, ".local/share"), "holdfast") : home;
  const config = separate
    ? join(xdg(env["XDG_CONFIG_HOME"]) ?? join(user, ".config"), "holdfast", "config.yaml")
    : join(home, "config.yaml");
  const run = join(home, "run");
  const wanted = join(run, "daemon.sock");
  const tooLong = Buffer.byteLength(wanted) > maxSocketBytes;
  const place = tooLong ? join(os().tmpdir(), `holdfast-${os().userInfo().uid}`) : run;
  return {
    home,
    config,
    database: join(home, "holdfast.db"),
    backups: join(home, "backups"),
    lock: join(home, "lock.db"),
    reserve: join(home, "reserve"),
    daemonFile: join(home, "daemon.json"),
    launchFile: join(home, "launch.json"),
    token: join(home, "token"),
    passphrase: join(home, "passphrase"),
    passphraseMark: join(home, "passphrase-mark.json"),
    push: join(home, "push.json"),
    projectEnv: join(home, "project-env.json"),
    configFiles: join(home, "config-files.json"),
    logs: join(home, "logs"),
    builds: join(home, "builds"),
    worktrees: join(data, "worktrees"),
    trash: join(data, "trash"),
    workers: join(home, "acp-workers"),
    contained: join(home, "contained"),
    launches: join(home, "launches"),
    tmux: join(home, "tmux"),
    get tmuxSocket() {
      return readSocketName(home) ?? socketNameFor(home);
    },
    tmuxSocketName: join(home, socketNameFile),
    run,
    socket: tooLong ? join(place, `${digestOf(home)}.sock`) : wanted,
    // As long as the other name, so both are in the same directory.
    agentsSocket: join(place, tooLong ? `${digestOf(home)}-a.sock` : "agents.sock"),
    socketMoved: tooLong ? `${wanted} is longer than the ${maxSocketBytes} bytes a socket path may have` : null,
  };
}

const socketNameFile = "tmux/socket-name";

export function socketNameFor(home: string): string {
  return `holdfast-${digestOf(home)}`;
}

function readSocketName(home: string): string | null {
  try {
    return /^(holdfast-[0-9a-f]+)\n/.exec(readFileSync(join(home, socketNameFile), "utf8"))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** The standard ignores relative paths; the daemon's working directory is not the user's. */
function xdg(directory: string | undefined): string | undefined {
  return directory?.startsWith("/") === true ? directory : undefined;
}
