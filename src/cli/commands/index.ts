/** All commands by name. A command's own file is loaded when it is called, so that the others cost nothing. */
import type { IndexEntry } from "../command.ts";
// These two must answer in a blink, so they are loaded with the index: a file of their own costs half a millisecond each.
import { command as info } from "./daemon/info.ts";
import { command as sessionLs } from "./session/ls.ts";

const session: readonly IndexEntry[] = [
  { name: "ls", summary: "list sessions", load: () => Promise.resolve({ command: sessionLs }) },
  { name: "show", summary: "everything about one session", load: () => import("./session/show.ts") },
  { name: "screen", summary: "what a session's terminal shows", load: () => import("./session/screen.ts") },
  { name: "kill", summary: "end a session; its worktree goes to the trash", load: () => import("./session/kill.ts") },
  { name: "stop", summary: "end its processes, keep its worktree", load: () => import("./session/stop.ts") },
  {
    name: "restore",
    summary: "bring a session back into its conversation",
    load: () => import("./session/restore.ts"),
  },
  { name: "cleanup", summary: "end sessions whose work is done", load: () => import("./session/cleanup.ts") },
  { name: "archive", summary: "stop a session and put it away", load: () => import("./session/archive.ts") },
  { name: "unarchive", summary: "take a session out of the archive", load: () => import("./session/unarchive.ts") },
  { name: "snooze", summary: "stop a session for a while", load: () => import("./session/snooze.ts") },
  { name: "wake", summary: "end a snooze now", load: () => import("./session/wake.ts") },
  { name: "delete", summary: "remove a session for good", load: () => import("./session/delete.ts") },
  { name: "rename", summary: "change a session's title", load: () => import("./session/rename.ts") },
  {
    name: "claim-pr",
    summary: "say that a pull request belongs to a session",
    load: () => import("./session/claim-pr.ts"),
  },
  {
    name: "convert",
    summary: "hand the conversation over to the other kind",
    load: () => import("./session/convert.ts"),
  },
];

const acp: readonly IndexEntry[] = [
  { name: "ps", summary: "list chat agents", load: () => import("./acp/ps.ts") },
  { name: "stop", summary: "end the agent politely, keep the worktree", load: () => import("./acp/stop.ts") },
  { name: "kill", summary: "end the agent by force, keep the worktree", load: () => import("./acp/kill.ts") },
  { name: "restart", summary: "replace the agent's process", load: () => import("./acp/restart.ts") },
  { name: "logs", summary: "what the agent wrote to stderr", load: () => import("./acp/logs.ts") },
  { name: "history", summary: "the transcript", load: () => import("./acp/history.ts") },
  { name: "tail", summary: "follow the transcript", load: () => import("./acp/tail.ts") },
  { name: "questions", summary: "Show open permission requests in full", load: () => import("./acp/questions.ts") },
  { name: "approve", summary: "allow what the agent asks for", load: () => import("./acp/approve.ts") },
  { name: "deny", summary: "refuse what the agent asks for", load: () => import("./acp/deny.ts") },
  { name: "cancel", summary: "ask the agent to end its turn", load: () => import("./acp/cancel.ts") },
  { name: "end-turn", summary: "end the turn without the agent's word", load: () => import("./acp/end-turn.ts") },
  { name: "configure", summary: "pick the agent's mode, model or options", load: () => import("./acp/configure.ts") },
  { name: "queue", summary: "list and change prompts that wait", load: () => import("./acp/queue.ts") },
  { name: "primer", summary: "a recap of the last turns, as markdown", load: () => import("./acp/primer.ts") },
];

const permissions: readonly IndexEntry[] = [
  { name: "ls", summary: "List your permission rules", load: () => import("./permissions/ls.ts") },
  { name: "test", summary: "Show which permission rule would match", load: () => import("./permissions/test.ts") },
];

const project: readonly IndexEntry[] = [
  {
    name: "add",
    summary: "register a repository, or the projects of its holdfast.yaml",
    load: () => import("./project/add.ts"),
  },
  { name: "ls", summary: "list registered projects", load: () => import("./project/ls.ts") },
  { name: "rm", summary: "forget a project; nothing on disk is touched", load: () => import("./project/rm.ts") },
  {
    name: "trust",
    summary: "Review a repository's holdfast.yaml and trust it",
    load: () => import("./project/trust.ts"),
  },
  {
    name: "untrust",
    summary: "Use defaults instead of a repository's holdfast.yaml",
    load: () => import("./project/untrust.ts"),
  },
];

const trash: readonly IndexEntry[] = [
  { name: "ls", summary: "list worktrees kept in the trash", load: () => import("./trash/ls.ts") },
  { name: "restore", summary: "put a worktree back where it was", load: () => import("./trash/restore.ts") },
  { name: "empty", summary: "remove kept worktrees for good", load: () => import("./trash/empty.ts") },
];

const device: readonly IndexEntry[] = [
  { name: "ls", summary: "List browsers that are logged in", load: () => import("./device/ls.ts") },
  { name: "rename", summary: "Change a device's name", load: () => import("./device/rename.ts") },
  { name: "rights", summary: "Change what a device may do", load: () => import("./device/rights.ts") },
  { name: "revoke", summary: "End a device's access", load: () => import("./device/revoke.ts") },
];

const token: readonly IndexEntry[] = [
  { name: "rotate", summary: "Replace the main token", load: () => import("./token/rotate.ts") },
];

const service: readonly IndexEntry[] = [
  {
    name: "install",
    summary: "start Holdfast at login, by systemd or launchd",
    load: () => import("./service/install.ts"),
  },
  { name: "uninstall", summary: "undo service install", load: () => import("./service/uninstall.ts") },
];

export const index: readonly IndexEntry[] = [
  {
    name: "init",
    summary: "set up a repository: holdfast.yaml, registration, tools",
    load: () => import("./project/init.ts"),
  },
  {
    name: "project",
    summary: "add, list, trust and remove projects",
    example: "holdfast project add ~/code/my-app",
    group: project,
  },
  { name: "spawn", summary: "start a session", load: () => import("./spawn/spawn.ts") },
  { name: "batch-spawn", summary: "start a session for each issue", load: () => import("./spawn/batch-spawn.ts") },
  { name: "session", summary: "list and control sessions", example: "holdfast session ls", group: session },
  { name: "status", summary: "what every session is doing", load: () => import("./session/status.ts") },
  { name: "send", summary: "send a prompt to a session", load: () => import("./session/send.ts") },
  { name: "attach", summary: "open a session in this terminal", load: () => import("./session/attach.ts") },
  { name: "acp", summary: "control chat agents and read what they said", example: "holdfast acp ps", group: acp },
  {
    name: "permissions",
    summary: "Show and try permission rules of chat agents",
    example: "holdfast permissions ls",
    group: permissions,
  },
  { name: "events", summary: "a session's events", load: () => import("./session/events.ts") },
  { name: "trash", summary: "worktrees of ended sessions", example: "holdfast trash ls", group: trash },
  { name: "start", summary: "start the daemon", load: () => import("./daemon/start.ts") },
  { name: "stop", summary: "end the daemon; sessions keep running", load: () => import("./daemon/stop.ts") },
  {
    name: "restart",
    summary: "replace the daemon by a new one; sessions keep running",
    load: () => import("./daemon/restart.ts"),
  },
  { name: "info", summary: "the daemon: state, address, version", load: () => Promise.resolve({ command: info }) },
  { name: "passphrase", summary: "Generate a passphrase", load: () => import("./daemon/passphrase.ts") },
  { name: "logs", summary: "the daemon's log", load: () => import("./daemon/logs.ts") },
  { name: "dashboard", summary: "open the dashboard", load: () => import("./device/dashboard.ts") },
  { name: "pair", summary: "Log in a phone or another browser", load: () => import("./device/pair.ts") },
  { name: "device", summary: "List and revoke logged-in browsers", example: "holdfast device ls", group: device },
  { name: "token", summary: "Manage the main token, for scripts", example: "holdfast token rotate", group: token },
  {
    name: "demo",
    summary: "try it: a scratch project and an agent without an account",
    load: () => import("./demo/demo.ts"),
  },
  { name: "mcp", summary: "serve sessions as tools to an agent (MCP, on stdio)", load: () => import("../mcp/mcp.ts") },
  { name: "update", summary: "update Holdfast; sessions keep running", load: () => import("./daemon/update.ts") },
  { name: "doctor", summary: "check this machine and this installation", load: () => import("../doctor/doctor.ts") },
  { name: "service", summary: "run the daemon as a service", example: "holdfast service install", group: service },
  {
    name: "completion",
    summary: "completions for bash, zsh and fish",
    load: () => import("./completion/completion.ts"),
  },
  {
    name: "complete",
    summary: "what completion scripts call",
    hidden: true,
    load: () => import("./completion/complete.ts"),
  },
];
