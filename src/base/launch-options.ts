import { isLevel, type Level } from "./log-level.ts";
import { readPublicUrl } from "./public-url.ts";

/** How the daemon was started last: written by the CLI before it starts one, replayed by every later start. */
export interface LaunchOptions {
  host: string;
  /** 0 picks a free port; `portGiven` tells a wish from the default, which may fall back to a free one. */
  port: number;
  portGiven: boolean;
  auth: "token" | "passphrase";
  readOnly: boolean;
  restore: boolean;
  /** What the daemon logs. Missing in files of earlier builds. */
  logLevel: Level;
  /** Further addresses that browsers use, each exact. Missing in files of earlier builds, like the two below. */
  publicUrls: readonly string[];
  /** Our own TLS: absolute paths of PEM files, both or neither. */
  tlsCert: string | null;
  tlsKey: string | null;
}

/** A test has a default port of its own, which no other test takes or frees. */
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

/** What a launch file says; null when a part of it cannot be meant, and then nothing of it is believed. */
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

/** What the daemon writes once it answers, for the CLI to find it by. */
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
  /** Its PATH, and the names of the variables that it was started with, for `doctor`. Left out by earlier builds. */
  path?: string;
  variables?: string[];
}

/** One line on descriptor 3 of a detached daemon: its starter waits for it. */
export type StartReport =
  | { report: "ready"; pid: number; url: string; notes: string[] }
  | { report: "already-running" }
  | { report: "failed"; code: string; message: string; hint: string | null };
