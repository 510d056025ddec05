/** The API's routes, as data: the server dispatches by this table, the client and OpenAPI are made from it. */
import type * as z from "zod/mini";
import type * as command from "./command.ts";

/**
 * Bodies are named, not referred to: the CLI and a starting daemon then load no schema library (5 ms of a 28 ms start).
 * The server loads command.ts at the first write.
 */
export type BodyName = {
  [K in keyof typeof command]: (typeof command)[K] extends z.ZodMiniType ? K : never;
}[keyof typeof command];

export interface Route {
  method: "GET" | "POST" | "DELETE";
  /** `{id}` stands for one path segment. */
  path: string;
  summary: string;
  /** Name of the schema in command.ts that the body has; without one the route takes no body. */
  body?: BodyName;
  query?: Record<string, string>;
  /** Name of the schema in wire.ts that the answer has; `[]` behind it for an array. */
  answer: string;
  /** Who may ask without a token. Only what says nothing and changes nothing may be `anyone`. */
  access?: "anyone" | "socket-only";
  /** Refused while the daemon is read-only; every POST and DELETE is, unless this says false. */
  writes?: boolean;
  /** The body is handed on as bytes, with the headers, and not as JSON: its sender signs exactly these bytes. */
  raw?: boolean;
  /** A field of the body that makes a write of a route that is none without it. */
  writesWith?: string;
}

const verb = (name: string, summary: string) =>
  ({
    method: "POST",
    path: `/api/sessions/{id}/${name}`,
    summary,
    body: "verbRequest",
    answer: "verbAnswer",
  }) as const satisfies Route;

export const routes = {
  health: {
    method: "GET",
    path: "/api/health",
    summary: "Ready: a query and a write worked just now",
    answer: "healthJson",
    access: "anyone",
  },
  info: { method: "GET", path: "/api/info", summary: "The daemon", answer: "infoJson" },
  login: {
    method: "POST",
    path: "/api/login",
    summary: "Trade a one-time code or the passphrase for a token",
    body: "loginRequest",
    answer: "loginJson",
    access: "anyone",
    writes: false,
  },
  loginLink: {
    method: "POST",
    path: "/api/login-link",
    summary: "A one-time login link",
    body: "verbRequest",
    answer: "loginLinkJson",
    access: "socket-only",
    writes: false,
  },
  logout: {
    method: "POST",
    path: "/api/logout",
    summary: "Revoke the browser token that asks, or all of them",
    body: "logoutRequest",
    answer: "logoutJson",
    writes: false,
  },
  daemonStop: {
    method: "POST",
    path: "/api/daemon/stop",
    summary: "End the daemon (and, if asked, stop the sessions)",
    body: "stopDaemonRequest",
    answer: "stopJson",
    writes: false,
    writesWith: "haltSessions",
  },
  sessions: {
    method: "GET",
    path: "/api/sessions",
    summary: "Sessions",
    query: { project: "only this project's" },
    answer: "sessionJson[]",
  },
  session: { method: "GET", path: "/api/sessions/{id}", summary: "One session", answer: "sessionJson" },
  spawn: {
    method: "POST",
    path: "/api/sessions",
    summary: "Start a session",
    body: "spawnRequest",
    answer: "sessionJson",
  },
  spawning: {
    method: "GET",
    path: "/api/spawns/{id}",
    summary: "The session of a spawn that is still waited for, by the id that came with it as holdfast-request",
    answer: "spawningJson",
  },
  stop: verb("stop", "End the processes politely; worktree and conversation are kept"),
  kill: verb("kill", "End the whole process tree; the worktree goes to the trash"),
  restore: verb("restore", "Bring a session back into its conversation"),
  archive: verb("archive", "Stop and put away"),
  unarchive: verb("unarchive", "Take out of the archive"),
  wake: verb("wake", "End a snooze now"),
  delete: verb("delete", "Remove for good; the worktree goes to the trash"),
  snooze: { ...verb("snooze", "Stop until a time"), body: "snoozeRequest" },
  rename: {
    method: "POST",
    path: "/api/sessions/{id}/rename",
    summary: "Change the title",
    body: "renameRequest",
    answer: "sessionJson",
  },
  prompt: {
    method: "POST",
    path: "/api/sessions/{id}/prompts",
    summary: "Send a prompt",
    body: "promptRequest",
    answer: "receiptJson",
  },
  events: {
    method: "GET",
    path: "/api/sessions/{id}/events",
    summary: "A session's events",
    query: {
      since: "only events after this sequence",
      before: "only events below this sequence: the newest of them, in rising order",
      limit: "at most this many",
    },
    answer: "eventJson[]",
  },
  changes: {
    method: "GET",
    path: "/api/sessions/{id}/changes",
    summary: "Files of the worktree that differ from the base",
    answer: "changesJson",
  },
  patch: {
    method: "GET",
    path: "/api/sessions/{id}/changes/patch",
    summary: "The worktree's differences from the base, as a unified patch",
    query: { path: "only this file" },
    answer: "patchJson",
  },
  files: {
    method: "GET",
    path: "/api/sessions/{id}/files",
    summary: "Paths of the worktree that fit a query, best first",
    query: { query: "letters of the path, in their order", limit: "at most this many" },
    answer: "filesJson",
  },
  work: {
    method: "GET",
    path: "/api/sessions/{id}/work",
    summary: "What a kill or delete would find, and where it would keep it",
    answer: "workJson",
  },
  terminal: {
    method: "GET",
    path: "/api/sessions/{id}/terminal",
    summary: "WebSocket: the session's screen; what is typed goes to the agent",
    query: { cols: "columns, 2 to 500", rows: "rows, 2 to 500", readonly: "1: only watch" },
    answer: "terminalFrame",
  },
  preflight: {
    method: "POST",
    path: "/api/preflight",
    summary: "What would keep a spawn from working; nothing is made",
    body: "spawnRequest",
    answer: "preflightJson",
    writes: false,
  },
  transcript: {
    method: "GET",
    path: "/api/sessions/{id}/transcript",
    summary: "What a person reads of a session, newest items, ready made",
    query: { tail: "at most this many items (200)", before: "only items before the one with this sequence" },
    answer: "transcriptJson",
  },
  cleanup: {
    method: "POST",
    path: "/api/cleanup",
    summary: "End sessions whose work is done",
    body: "cleanupRequest",
    answer: "cleanupJson[]",
  },
  projects: { method: "GET", path: "/api/projects", summary: "Registered projects", answer: "projectJson[]" },
  projectAdd: {
    method: "POST",
    path: "/api/projects",
    summary: "Register a repository, or the projects of its holdfast.yaml",
    body: "projectAddRequest",
    answer: "projectJson[]",
  },
  projectRemove: {
    method: "DELETE",
    path: "/api/projects/{id}",
    summary: "Forget a project; nothing on disk is touched",
    answer: "projectJson",
  },
  trash: { method: "GET", path: "/api/trash", summary: "Worktrees kept in the trash", answer: "trashJson[]" },
  trashRestore: {
    method: "POST",
    path: "/api/trash/{id}/restore",
    summary: "Put a worktree back where it was",
    body: "verbRequest",
    answer: "trashJson",
  },
  trashEmpty: {
    method: "POST",
    path: "/api/trash/empty",
    summary: "Remove kept worktrees for good",
    body: "trashRequest",
    answer: "trashJson[]",
  },
  doctor: {
    method: "GET",
    path: "/api/doctor",
    summary: "What only the daemon can check",
    query: { full: "1: also what the command line's doctor finds" },
    answer: "findingJson[]",
  },
  settings: {
    method: "GET",
    path: "/api/settings",
    summary: "The daemon's agents, projects and options",
    answer: "settingsJson",
  },
  workers: { method: "GET", path: "/api/acp", summary: "Chat agents and their keepers", answer: "workerJson[]" },
  answer: {
    method: "POST",
    path: "/api/sessions/{id}/acp/answer",
    summary: "Answer one of the agent's questions, once",
    body: "answerRequest",
    answer: "answerJson",
  },
  cancel: {
    method: "POST",
    path: "/api/sessions/{id}/acp/cancel",
    summary: "Ask the agent to end its turn",
    body: "verbRequest",
    answer: "cancelJson",
  },
  endTurn: {
    method: "POST",
    path: "/api/sessions/{id}/acp/end-turn",
    summary: "End the turn without the agent's word",
    body: "verbRequest",
    answer: "sessionJson",
  },
  configure: {
    method: "POST",
    path: "/api/sessions/{id}/acp/configure",
    summary: "Pick the agent's mode, model or another option",
    body: "configureRequest",
    answer: "sessionJson",
  },
  acpKill: {
    method: "POST",
    path: "/api/sessions/{id}/acp/kill",
    summary: "Stop by force; the worktree is not touched",
    body: "verbRequest",
    answer: "verbAnswer",
  },
  acpRestart: {
    method: "POST",
    path: "/api/sessions/{id}/acp/restart",
    summary: "Replace the agent's process; the conversation goes on",
    body: "verbRequest",
    answer: "verbAnswer",
  },
  acpLogs: {
    method: "GET",
    path: "/api/sessions/{id}/acp/logs",
    summary: "The newest lines of the agent's stderr",
    query: { lines: "how many" },
    answer: "linesJson",
  },
  screen: {
    method: "GET",
    path: "/api/sessions/{id}/screen",
    summary: "What the session's terminal shows now",
    query: { lines: "how many of the last lines" },
    answer: "linesJson",
  },
  primer: {
    method: "GET",
    path: "/api/sessions/{id}/acp/context-primer",
    summary: "A compact recap of the last turns, for a conversation that was reset",
    query: { before_seq: "only what was said before this event" },
    answer: "primerJson",
  },
  primerDismiss: {
    method: "POST",
    path: "/api/sessions/{id}/acp/context-primer/dismiss",
    summary: "No longer offer the recap after the last reset",
    body: "verbRequest",
    answer: "sessionJson",
  },
  convert: {
    method: "POST",
    path: "/api/sessions/{id}/convert",
    summary: "Hand the conversation over to the other kind",
    body: "convertRequest",
    answer: "verbAnswer",
  },
  promptEdit: {
    method: "POST",
    path: "/api/sessions/{id}/prompts/{prompt}",
    summary: "Change, move or withdraw a prompt that still waits",
    body: "promptEditRequest",
    answer: "queueJson",
  },
  queue: { method: "GET", path: "/api/sessions/{id}/prompts", summary: "Prompts that wait", answer: "queueJson" },
  trackers: {
    method: "GET",
    path: "/api/trackers",
    summary: "How the projects' trackers are doing",
    answer: "trackerJson[]",
  },
  trackersRefresh: {
    method: "POST",
    path: "/api/trackers/refresh",
    summary: "Ask the trackers now, and answer when what they say is on record",
    body: "refreshRequest",
    answer: "trackerJson[]",
  },
  claimPullRequest: {
    method: "POST",
    path: "/api/sessions/{id}/claim-pr",
    summary: "Say that a pull request belongs to this session",
    body: "claimRequest",
    answer: "sessionJson",
  },
  webhook: {
    method: "POST",
    path: "/api/webhooks/{id}",
    summary: "A tracker's signed notice that something of a project changed; it only wakes the poller",
    answer: "wakeJson",
    access: "anyone",
    raw: true,
    writes: false,
  },
  attachment: {
    method: "GET",
    path: "/api/sessions/{id}/prompts/{prompt}/attachments/{n}",
    summary: "An image of a prompt, as bytes; counted from 0",
    answer: "image",
  },
  push: {
    method: "GET",
    path: "/api/push",
    summary: "The key to subscribe for, and the browsers that are called also while no tab is open",
    answer: "pushJson",
  },
  pushSubscribe: {
    method: "POST",
    path: "/api/push",
    summary: "Call this browser, by its push subscription",
    body: "pushRequest",
    answer: "pushBrowserJson",
  },
  pushRemove: {
    method: "DELETE",
    path: "/api/push/{id}",
    summary: "No longer call a browser",
    answer: "pushBrowserJson",
    writes: false,
  },
  pushTest: {
    method: "POST",
    path: "/api/push/{id}/test",
    summary: "Call a browser now",
    body: "verbRequest",
    answer: "pushTestJson",
  },
  openapi: { method: "GET", path: "/openapi.json", summary: "This description", answer: "openapi" },
  stream: {
    method: "GET",
    path: "/api/stream",
    summary: "WebSocket: snapshot, then events",
    query: { after: "resume behind this cursor", session: "only this session" },
    answer: "frame",
  },
  sse: {
    method: "GET",
    path: "/api/events",
    summary: "The same as server-sent events",
    query: { after: "resume behind this cursor", session: "only this session" },
    answer: "frame",
  },
} satisfies Record<string, Route>;

export type RouteName = keyof typeof routes;

/** The WebSocket subprotocol, and the one that carries the token, since browsers cannot send a header there. */
export const streamProtocol = "holdfast.v1";
export const tokenProtocolPrefix = "holdfast.token.";

/** A header, because a daemon that does not know it yet takes the spawn all the same. */
export const requestHeader = "holdfast-request";
