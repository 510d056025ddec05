/** How the daemon was started last, and the file that keeps it for the next start. */
import { readFileSync, renameSync, rmSync } from "node:fs";
import { readPublicUrl } from "./addresses.ts";
import { writeDurable } from "./durable-file.ts";

/** How much the daemon logs. */
export const levels = ["debug", "info", "warn", "error"] as const;
export type Level = (typeof levels)[number];

export function isLevel(value: unknown): value is Level {
  return levels.some((level) => level === value);
}

/** Written by the CLI before it starts a daemon, replayed by every later start. */
export interface LaunchOptions {
  host: string;
  /** 0 picks a free port; so may the default, unless `portGiven`. */
  port: number;
  portGiven: boolean;
  auth: "token" | "passphrase";
  readOnly: boolean;
  restore: boolean;
  /** Missing in files of earlier builds. */
  logLevel: Level;
  /** Further exact addresses that browsers use. Missing in files of earlier builds, like the two below. */
  publicUrls: readonly string[];
  /** Our own TLS: absolute paths of PEM files, both or neither. */
  tlsCert: string | null;
  tlsKey: string | null;
}

/** Each test has its own default port. */
export const defaultPort = Number(process.env["HOLDFAST_TEST_PORT"] ?? 4710);

export const defaultLaunchOptions: LaunchOptions = {
  host: "127.0.0.1",
  port: defaultPort,
  portGiven: false,
  auth: "token",
  readOnly: false,
  restore: true,
  logLevel: "info",
  publicUrls: [],
  tlsCert: null,
  tlsKey: null,
};

/** The options of a launch file; null if any of them is invalid. */
export function readLaunchOptions(value: unknown): LaunchOptions | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const options = { ...defaultLaunchOptions, ...(value as LaunchOptions) };
  const { host, port, portGiven, auth, readOnly, restore, logLevel, publicUrls, tlsCert, tlsKey } = options;
  const isPort = Number.isInteger(port) && port >= 0 && port <= 65_535;
  const areFlags = [portGiven, readOnly, restore].every((flag) => typeof flag === "boolean");
  const isAuth = auth === "token" || auth === "passphrase";
  if (typeof host !== "string" || host === "" || !isPort || !areFlags || !isAuth || !isLevel(logLevel)) return null;
  if (!areUrls(publicUrls) || !isFile(tlsCert) || !isFile(tlsKey) || (tlsCert === null) !== (tlsKey === null))
    return null;
  return { host, port, portGiven, auth, readOnly, restore, logLevel, publicUrls, tlsCert, tlsKey };
}

function areUrls(value: unknown): boolean {
  const isUrl = (each: unknown): boolean => typeof each === "string" && "url" in readPublicUrl(each);
  return Array.isArray(value) && value.every(isUrl);
}

function isFile(value: unknown): boolean {
  return value === null || (typeof value === "string" && value.startsWith("/"));
}

/** Written by the daemon once it responds, for the CLI to find it. */
export interface DaemonFile {
  pid: number;
  startTime: string;
  bootId: string;
  version: string;
  build: string;
  url: string;
  socket: string;
  startedAt: number;
  managedBy: string | null;
  options: LaunchOptions;
  /** PATH and the names of its variables, for `doctor`. Missing in files of earlier builds. */
  path?: string;
  variables?: string[];
}

/** One line on descriptor 3 of a detached daemon; `start` waits for it. */
export type StartReport =
  | { report: "ready"; pid: number; url: string; notes: string[] }
  | { report: "already-running" }
  | { report: "failed"; code: string; message: string; hint: string | null };

const launchBefore = (launchFile: string): string => `${launchFile}.before`;

/**
 * Called first by `start`: writes the new options and keeps the old ones in a second file until the daemon is ready.
 * Otherwise every later command would replay options that cannot work. Old options of an interrupted start stay.
 */
export function proposeLaunch(launchFile: string, text: string): void {
  const before = launchBefore(launchFile);
  if (readOrNull(before) === null) writeDurable(before, readOrNull(launchFile) ?? nothing, 0o600);
  writeDurable(launchFile, text, 0o600);
}

/** The daemon is ready: later starts replay its options. */
export function keepLaunch(launchFile: string): void {
  rmSync(launchBefore(launchFile), { force: true });
}

/** The daemon failed with these options: restores the previous ones. */
export function takeBackLaunch(launchFile: string): void {
  const before = readOrNull(launchBefore(launchFile));
  if (before === null) return;
  if (before !== nothing) {
    renameSync(launchBefore(launchFile), launchFile);
    return;
  }
  rmSync(launchFile, { force: true });
  rmSync(launchBefore(launchFile), { force: true });
}

/** There was no previous start. */
const nothing = "";

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
