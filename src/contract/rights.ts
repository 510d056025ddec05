/** What a device may do, and which of these rights each route needs. */
import type { RouteName } from "./http.ts";

/** Each includes the ones before it. */
export const rights = ["watch", "answer", "all"] as const;
export type Right = (typeof rights)[number];

/**
 * `watch` reads. `answer` also talks to agents that are there: prompts, answers, cancelling, typing. Everything else is
 * `all`. Routes that anyone may call need no right; the ones below `logout` and `push` are about the device itself.
 */
export const routeRights: Record<RouteName, Right> = {
  health: "watch",
  challenge: "watch",
  info: "watch",
  login: "watch",
  loginLink: "all",
  /** Of the device itself; `all: true` needs `all`. */
  logout: "watch",
  devices: "watch",
  deviceEdit: "all",
  deviceRevoke: "all",
  tokenRotate: "all",
  daemonStop: "all",
  sessions: "watch",
  session: "watch",
  spawn: "all",
  spawning: "watch",
  stop: "all",
  kill: "all",
  restore: "all",
  archive: "all",
  unarchive: "all",
  wake: "all",
  delete: "all",
  snooze: "all",
  rename: "all",
  prompt: "answer",
  events: "watch",
  changes: "watch",
  patch: "watch",
  files: "watch",
  work: "watch",
  /** Typing needs `answer`. */
  terminal: "watch",
  preflight: "all",
  transcript: "watch",
  cleanup: "all",
  projects: "watch",
  projectAdd: "all",
  projectRemove: "all",
  trash: "watch",
  trashRestore: "all",
  trustAt: "watch",
  trust: "watch",
  trustAnswer: "all",
  trashEmpty: "all",
  doctor: "watch",
  settings: "watch",
  workers: "watch",
  questions: "watch",
  permissionRules: "watch",
  permissionTest: "watch",
  answer: "answer",
  cancel: "answer",
  endTurn: "all",
  configure: "all",
  acpKill: "all",
  acpRestart: "all",
  acpLogs: "watch",
  screen: "watch",
  primer: "watch",
  primerDismiss: "answer",
  convert: "all",
  promptEdit: "answer",
  queue: "watch",
  trackers: "watch",
  trackersRefresh: "all",
  claimPullRequest: "all",
  webhook: "watch",
  attachment: "watch",
  push: "watch",
  /** Of the device itself; another device's subscription needs `all`. */
  pushSubscribe: "watch",
  pushRemove: "watch",
  pushTest: "watch",
  openapi: "watch",
  stream: "watch",
  sse: "watch",
};

export function includes(has: Right, needed: Right): boolean {
  return rights.indexOf(has) >= rights.indexOf(needed);
}

/** What a device with this right may do, for a sentence that begins with the device. */
export const rightWords: Record<Right, string> = {
  watch: "may only watch",
  answer: "may watch, prompt and answer",
  all: "may do everything",
};
