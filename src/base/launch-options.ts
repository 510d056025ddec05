/** How the daemon was started last: written by the CLI before it starts one, replayed by every later start. */
export interface LaunchOptions {
  host: string;
  /** 0 picks a free port; `portGiven` tells a wish from the default, which may fall back to a free one. */
  port: number;
  portGiven: boolean;
  auth: "token" | "passphrase";
  readOnly: boolean;
  restore: boolean;
}

export const defaultPort = 4710;

export const defaultLaunchOptions: LaunchOptions = {
  host: "127.0.0.1",
  port: defaultPort,
  portGiven: false,
  auth: "token",
  readOnly: false,
  restore: true,
};

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
}

/** One line on descriptor 3 of a detached daemon: its starter waits for it. */
export type StartReport =
  | { report: "ready"; pid: number; url: string; notes: string[] }
  | { report: "already-running" }
  | { report: "failed"; code: string; message: string; hint: string | null };
