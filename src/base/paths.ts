/**
 * Where everything is. `HOLDFAST_HOME` puts all of it below one directory, so that two homes never meet; otherwise the
 * XDG directories are used.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { digestOf } from "./digest.ts";

export interface Paths {
  /** What identifies this installation to a person: the state directory. */
  home: string;
  config: string;
  database: string;
  backups: string;
  lock: string;
  reserve: string;
  /** What the CLI needs to find the daemon. */
  daemonFile: string;
  /** The options of the last start, replayed by the next one. */
  launchFile: string;
  token: string;
  passphrase: string;
  /** Recognizes the same passphrase in a later start, and records whether it is weak. */
  passphraseMark: string;
  /** The key for pushes to browsers, and their subscriptions. */
  push: string;
  /** Values of projects' `env`, for the time when their file is broken. */
  projectEnv: string;
  logs: string;
  builds: string;
  worktrees: string;
  trash: string;
  workers: string;
  /** One directory a contained session: its agent's own state, and what it committed. */
  contained: string;
  /** Which configuration files the registered projects have, for the CLI that starts the daemon. */
  configFiles: string;
  /** One directory a launch for the files that hooks write. */
  launches: string;
  tmux: string;
  /** Name of our own tmux server's socket: after the path the home was first started in, so that a moved home finds its agents. */
  readonly tmuxSocket: string;
  /** Holds that name, and the home's id in its second line, once the home was started. */
  tmuxSocketName: string;
  run: string;
  socket: string;
  /** The door for agents, on which nobody is the person; beside the socket. */
  agentsSocket: string;
  /** Why the sockets are not where they are expected, or null. */
  socketMoved: string | null;
}

/** Longer paths are silently cut off by some Node versions and refused by others. */
export const maxSocketBytes = 107;

/** By request, like node:crypto below: the CLI's two fastest commands do without. */
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
    // As long as the other name, so that both are where they are expected, or neither is.
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

/** The standard has a relative one ignored, and so is an empty one: the daemon stands in another directory than the person. */
function xdg(directory: string | undefined): string | undefined {
  return directory?.startsWith("/") === true ? directory : undefined;
}
