/**
 * All paths. `HOLDFAST_HOME` puts everything below one directory, to keep homes apart; otherwise the XDG directories
 * are used.
 */
import { readFileSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { digestOf } from "./digest.ts";

/** Some Node versions silently truncate longer paths, others refuse them. */
export const maxSocketBytes = 107;

export type Paths = ReturnType<typeof resolvePaths>;

export function resolvePaths(env: NodeJS.ProcessEnv = process.env) {
  const own = env["HOLDFAST_HOME"];
  const user = env["HOME"] ?? homedir();
  // The standard ignores relative paths; the daemon's working directory is not the user's.
  const xdg = (directory: string | undefined, fallback: string): string =>
    join(directory?.startsWith("/") === true ? directory : join(user, fallback), "holdfast");
  const separate = own === undefined || own === "";
  const home = separate ? xdg(env["XDG_STATE_HOME"], ".local/state") : resolve(own);
  const data = separate ? xdg(env["XDG_DATA_HOME"], ".local/share") : home;
  const config = join(separate ? xdg(env["XDG_CONFIG_HOME"], ".config") : home, "config.yaml");
  const run = join(home, "run");
  const wanted = join(run, "daemon.sock");
  const tooLong = Buffer.byteLength(wanted) > maxSocketBytes;
  const place = tooLong ? join(tmpdir(), `holdfast-${userInfo().uid}`) : run;
  return {
    /** Identifies this installation to the user: the state directory. */
    home,
    config,
    database: join(home, "holdfast.db"),
    backups: join(home, "backups"),
    lock: join(home, "lock.db"),
    reserve: join(home, "reserve"),
    /** For the CLI to find the daemon. */
    daemonFile: join(home, "daemon.json"),
    /** The options of the last start, replayed by the next one. */
    launchFile: join(home, "launch.json"),
    token: join(home, "token"),
    passphrase: join(home, "passphrase"),
    /** Recognizes the same passphrase in a later start, and records whether it is weak. */
    passphraseMark: join(home, "passphrase-mark.json"),
    /** The key for pushes to browsers, and their subscriptions. */
    push: join(home, "push.json"),
    /** Values of projects' `env`, for when their file is broken. */
    projectEnv: join(home, "project-env.json"),
    /** Configuration files of the registered projects, for the CLI that starts the daemon. */
    configFiles: join(home, "config-files.json"),
    logs: join(home, "logs"),
    builds: join(home, "builds"),
    worktrees: join(data, "worktrees"),
    trash: join(data, "trash"),
    workers: join(home, "acp-workers"),
    /** One directory per contained session: its agent's own state, and its commits. */
    contained: join(home, "contained"),
    /** One directory per launch, for the files that hooks write. */
    launches: join(home, "launches"),
    tmux: join(home, "tmux"),
    /**
     * Our own tmux server's socket name, derived from the path of the home's first start: a moved home finds its
     * agents.
     */
    get tmuxSocket() {
      return readSocketName(home) ?? socketNameFor(home);
    },
    /** Contains that name, and the home's id in its second line, once the home was started. */
    tmuxSocketName: join(home, socketNameFile),
    run,
    socket: tooLong ? join(place, `${digestOf(home)}.sock`) : wanted,
    /** The agents' socket, next to the other one and with a name of the same length; its callers are never the user. */
    agentsSocket: join(place, tooLong ? `${digestOf(home)}-a.sock` : "agents.sock"),
    /** Why the sockets are not in their usual directory, or null. */
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
