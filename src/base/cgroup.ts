/**
 * A cgroup per launch, if the system allows one: whatever a process does (its own session, two forks, a cleared
 * environment), it stays in the cgroup it was started in, so the list of a launch's processes is always complete
 * [TERMINAL-4]. Plain directories of the kernel's file system: cgroup v2 below the daemon's own cgroup (delegated by
 * systemd, or as root), otherwise the v1 freezer as root. Starts no process, and polls nothing.
 */
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

export interface Cgroups {
  /** What `doctor` prints. */
  readonly state: CgroupState;
  /** Creates a launch's cgroup. Null if the system does not allow one; the launch then runs without it. */
  make(session: string, launch: string): string | null;
}

export type CgroupState = { is: "ok"; how: string; directory: string } | { is: "none"; why: string };

export interface CgroupSystem {
  /** Text of /proc/self/mountinfo and /proc/self/cgroup. */
  mounts: string;
  own: string;
}

/** Below the daemon's own cgroup, in one directory per home. */
const homeName = /^holdfast-[0-9a-f]+$/;
const procs = "cgroup.procs";

/** @param name of the home: `holdfast-<digest>`. @param refused why launches must do without, or null. */
export function openCgroups(
  name: string,
  refused: string | null = null,
  system: CgroupSystem | null = readSystem(),
): Cgroups {
  const place = system === null ? null : findCgroupRoot(system);
  if (place === null) {
    const why = system === null ? "this system has no cgroups" : "no usable cgroup file system is mounted";
    return { state: { is: "none", why }, make: () => null };
  }
  leave(place);
  if (refused !== null) return { state: { is: "none", why: refused }, make: () => null };
  const directory = join(place.directory, name);
  const problem = tryDirectory(place, directory);
  if (problem !== null) return { state: { is: "none", why: problem }, make: () => null };
  for (const launch of subdirectories(directory)) removeCgroup(join(directory, launch));
  removeDirectory(directory);
  return {
    state: { is: "ok", how: place.how, directory },
    make: (session, launch) => {
      const path = join(directory, `${session}-${launch}`.replaceAll(/[^\w.-]/g, "_").slice(0, 200));
      try {
        makeDirectory(directory);
        makeDirectory(path);
        return path;
      } catch {
        return null;
      }
    },
  };
}

/** The file that a shell writes `0` to, to move itself and everything it starts. */
export function joinFile(cgroup: string): string {
  return join(cgroup, procs);
}

/** Every process in it and in cgroups below it. */
export function cgroupMembers(cgroup: string): number[] {
  let text: string;
  try {
    text = readFileSync(join(cgroup, procs), "utf8");
  } catch {
    return [];
  }
  const own = text.split("\n").flatMap((line) => (line === "" ? [] : [Number(line)]));
  return [...own, ...subdirectories(cgroup).flatMap((name) => cgroupMembers(join(cgroup, name)))];
}

/** Sends SIGKILL to every process in it at once, so none can fork away. The caller checked its processes. */
export function killCgroup(cgroup: string): void {
  try {
    if (existsSync(join(cgroup, "cgroup.kill"))) {
      writeFileSync(join(cgroup, "cgroup.kill"), "1");
      return;
    }
  } catch {
    // Removed, or not ours: the remaining processes are found and killed one by one.
    return;
  }
  const freeze = freezerOf(cgroup);
  freeze?.(true);
  for (const pid of cgroupMembers(cgroup)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It just exited.
    }
  }
  freeze?.(false);
}

/** Removes it if it is empty; otherwise a later check does. */
export function removeCgroup(cgroup: string): void {
  for (const name of subdirectories(cgroup)) removeCgroup(join(cgroup, name));
  removeDirectory(cgroup);
}

/** Removes the cgroup of a finished launch, and the home's directory if it was the last one. */
export function forgetCgroup(cgroup: string): void {
  removeCgroup(cgroup);
  removeDirectory(join(cgroup, ".."));
}

/** Not recursive: Node never returns from that if the kernel's file system refuses it. */
function makeDirectory(path: string): void {
  try {
    mkdirSync(path, 0o755);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function removeDirectory(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Absent, or in use.
  }
}

/** Frozen tasks receive their SIGKILL when thawed, and cannot fork until then. */
function freezerOf(cgroup: string): ((frozen: boolean) => void) | null {
  const write = (file: string, text: string): void => {
    try {
      writeFileSync(join(cgroup, file), text);
    } catch {
      // Otherwise the checks after the kill find processes that forked away.
    }
  };
  if (existsSync(join(cgroup, "freezer.state"))) return (on) => write("freezer.state", on ? "FROZEN" : "THAWED");
  if (existsSync(join(cgroup, "cgroup.freeze"))) return (on) => write("cgroup.freeze", on ? "1" : "0");
  return null;
}

function subdirectories(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  } catch {
    return [];
  }
}

export interface CgroupRoot {
  /** The cgroup of this process, or the one around the launch that it was started from. */
  directory: string;
  how: string;
  /** This process is inside a launch's cgroup and has to leave it first. */
  inLaunch: boolean;
}

/** Pure: where our cgroups would be. */
export function findCgroupRoot({ mounts, own }: CgroupSystem): CgroupRoot | null {
  const lines = mounts.split("\n").flatMap((line) => {
    const [left, right] = line.split(" - ");
    const [type, , options = ""] = (right ?? "").split(" ");
    const [, , , root, point] = (left ?? "").split(" ");
    return root === undefined || point === undefined ? [] : [{ type, options: options.split(","), root, point }];
  });
  const paths = own.split("\n").map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  const find = (type: string, controller: string, how: string): CgroupRoot | null => {
    const mount = lines.find((each) => each.type === type && (controller === "" || each.options.includes(controller)));
    const path = paths.find((each) => each?.[1]?.split(",").includes(controller))?.[2];
    if (mount === undefined || path === undefined || path.includes("..")) return null;
    // In a container the mount shows only a part of the hierarchy.
    const below = mount.root === "/" ? path : path.startsWith(mount.root) ? path.slice(mount.root.length) : "";
    const parts = below.split("/").filter((part) => part !== "");
    const launch = parts.findIndex((part, at) => homeName.test(part) && at < parts.length - 1);
    const outside = launch < 0 ? parts : parts.slice(0, launch);
    return { directory: join(unescaped(mount.point), ...outside), how, inLaunch: launch >= 0 };
  };
  return find("cgroup2", "", "cgroup v2") ?? find("cgroup", "freezer", "cgroup v1, freezer");
}

/** mountinfo writes spaces and some other characters as octal numbers. */
function unescaped(path: string): string {
  return path.replaceAll(/\\(\d{3})/g, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 8)));
}

/** A daemon started by an agent is not part of that agent: it must outlive it [DAEMON-8]. */
function leave(place: CgroupRoot): void {
  if (!place.inLaunch) return;
  try {
    writeFileSync(join(place.directory, procs), String(process.pid));
  } catch {
    // Then its launches are inside as well, and are killed with the agent that started it.
  }
}

/** Null if launches can have cgroups there. */
function tryDirectory(place: CgroupRoot, directory: string): string | null {
  try {
    makeDirectory(directory);
    accessSync(join(directory, procs), constants.W_OK);
    // Moving a process between two cgroups requires write access to their common parent.
    accessSync(join(place.directory, procs), constants.W_OK);
    return null;
  } catch (error) {
    removeDirectory(directory);
    return `cannot write ${place.directory} (${(error as NodeJS.ErrnoException).code})`;
  }
}

function readSystem(): CgroupSystem | null {
  try {
    return {
      mounts: readFileSync("/proc/self/mountinfo", "utf8"),
      own: readFileSync("/proc/self/cgroup", "utf8"),
    };
  } catch {
    return null;
  }
}
