/** All commands. A verb that only calls an operation is a row here; any other command is loaded when it is called. */
import { chatArgument, type IndexEntry, projectArgument, sessionArgument } from "../command.ts";
import { clean, inert } from "../render/text.ts";
import { command as info } from "./daemon/info.ts";
import { lazy, operation, plainVerb, verb, withPlainVerbs } from "./operation.ts";
import { command as sessionLs } from "./session/ls.ts";

const session = withPlainVerbs([
  lazy("ls", "List sessions", () => Promise.resolve({ command: sessionLs })),
  lazy("show", "Show details of a session", () => import("./session/show.ts")),
  operation("session screen", "screen", {
    arguments: [sessionArgument],
    options: [{ long: "lines", short: "n", value: "number", description: "Number of lines from the end" }],
    examples: [
      ["print the screen", "holdfast session screen ma-12"],
      ["include more scrollback", "holdfast session screen ma-12 -n 500"],
    ],
    fails: "show the screen of",
    request: (input) => ({ params: { id: input.arg(0) }, query: { lines: input.text("lines") } }),
    print: ({ lines }) => lines.map(inert).join("\n"),
  }),
  plainVerb("kill", {
    examples: [
      ["kill it and everything it started", "holdfast session kill ma-12"],
      ["kill several", "holdfast session kill ma-12 ma-13"],
    ],
    notes:
      "Ends the whole process tree and moves the worktree, including uncommitted files, to the trash for 14 days.\nOnly holdfast session restore brings it back.",
  }),
  plainVerb("stop", {
    examples: [
      ["stop it gracefully", "holdfast session stop ma-12"],
      ["stop several", "holdfast session stop ma-12 ma-13"],
    ],
    notes: "Keeps the worktree and conversation. The next prompt or holdfast session restore starts it again.",
  }),
  lazy("restore", "Restore a session and resume its conversation", () => import("./session/restore.ts")),
  lazy("cleanup", "Kill sessions whose work is finished", () => import("./session/cleanup.ts")),
  plainVerb("archive", {
    notes: "Keeps the worktree and conversation. The next prompt or holdfast session unarchive brings it back.",
  }),
  plainVerb("unarchive", {
    notes: "It runs again, in its own conversation.",
  }),
  lazy("snooze", "Stop a session until a set time", () => import("./session/verbs.ts"), "snooze"),
  plainVerb("wake", {
    notes: "It runs again, in its own conversation.",
  }),
  lazy("delete", "Delete a session permanently", () => import("./session/verbs.ts"), "deleteSession"),
  operation("session rename", "rename", {
    arguments: [sessionArgument, { name: "title", description: "New title", variadic: true }],
    examples: [["change the title", "holdfast session rename ma-12 Login page"]],
    notes: "The id does not change and is never reused.",
    fails: "rename",
    request: ({ args: [id = "", ...words] }) => ({ params: { id }, body: { title: words.join(" ") } }),
    print: ({ id, title }) => `Session ${id} renamed: ${clean(title)}`,
  }),
  operation("session claim-pr", "claimPullRequest", {
    arguments: [sessionArgument, { name: "pull-request", description: "Number or URL" }],
    examples: [["link a pull request opened elsewhere", "holdfast session claim-pr ma-12 89"]],
    notes:
      "Its checks, reviews and merge state then set this session's status. If another session had it, it is unlinked\nthere.",
    fails: "link a pull request to",
    request: ({ args: [id = "", pullRequest = ""] }) => ({ params: { id }, body: { pullRequest } }),
    print: ({ id, pullRequests, pullRequest }, _context, input) => {
      const claimed = input.arg(1);
      const linked = pullRequests?.find(
        ({ url, number }) => url === claimed || String(number) === claimed.replace(/^[#!]/, ""),
      );
      return `Session ${id} has ${clean(linked?.url ?? pullRequest?.url ?? claimed)}`;
    },
  }),
  lazy("convert", "Switch a session between terminal and chat", () => import("./session/verbs.ts"), "convert"),
]);

const acp: readonly IndexEntry[] = [
  lazy("ps", "List chat agents", () => import("./acp/agent.ts"), "ps"),
  lazy("stop", "Stop a chat agent gracefully", () => import("./acp/agent.ts"), "stop"),
  verb("acp kill", {
    operation: "acpKill",
    done: "stopped by force",
    fails: "kill the agent of",
    examples: [["kill an unresponsive agent", "holdfast acp kill ma-12"]],
    notes:
      "Stops the session by force; its last turn may be lost. Keeps the worktree and conversation: the next prompt or\nholdfast session restore starts it again. To kill a session permanently: holdfast session kill.",
  }),
  verb("acp restart", {
    operation: "acpRestart",
    done: "restarted",
    fails: "restart the agent of",
    starts: "agent",
    notes: "Stops the agent gracefully and starts it again in the same conversation.",
  }),
  lazy("logs", "Show a chat agent's stderr", () => import("./acp/agent.ts"), "logs"),
  lazy("history", "Print the transcript", () => import("./acp/transcript.ts"), "history"),
  lazy("tail", "Follow the transcript", () => import("./acp/transcript.ts"), "tail"),
  lazy("questions", "Show open permission requests in full", () => import("./acp/permissions.ts"), "questions"),
  lazy("approve", "Approve a permission request", () => import("./acp/permissions.ts"), "approve"),
  lazy("deny", "Deny a permission request", () => import("./acp/permissions.ts"), "deny"),
  lazy("cancel", "Cancel the current turn", () => import("./acp/agent.ts"), "cancel"),
  operation("acp end-turn", "endTurn", {
    arguments: [chatArgument],
    examples: [["force-end a turn that never ends", "holdfast acp end-turn ma-12"]],
    notes:
      "Closes the turn even if the agent does not respond to cancel. The agent keeps running and later output is still\nshown. Fails if no turn is in progress.",
    fails: "end the turn of",
    request: (input) => ({ params: { id: input.arg(0) }, body: {} }),
    print: ({ id }) => `Turn of session ${clean(id)} force-ended.`,
  }),
  lazy("configure", "Show or set an agent's mode, model and options", () => import("./acp/configure.ts")),
  lazy("queue", "List and edit queued prompts", () => import("./acp/queue.ts")),
  lazy("primer", "Print a recap of recent turns as Markdown", () => import("./acp/agent.ts"), "primer"),
];

const permissions: readonly IndexEntry[] = [
  lazy("ls", "List your permission rules", () => import("./permissions/permissions.ts"), "ls"),
  lazy("test", "Show which permission rule would match", () => import("./permissions/permissions.ts"), "test"),
];

const project: readonly IndexEntry[] = [
  lazy(
    "add",
    "Register a repository or the projects in its holdfast.yaml",
    () => import("./project/project.ts"),
    "add",
  ),
  lazy("ls", "List registered projects", () => import("./project/project.ts"), "ls"),
  operation("project rm", "projectRemove", {
    arguments: [projectArgument],
    examples: [["unregister a project", "holdfast project rm my-app"]],
    print: ({ id }) => `Project ${clean(id)} removed. Files on disk were not changed.`,
  }),
  lazy("trust", "Review a repository's holdfast.yaml and trust it", () => import("./project/project.ts"), "trust"),
  lazy(
    "untrust",
    "Use defaults instead of a repository's holdfast.yaml",
    () => import("./project/project.ts"),
    "untrust",
  ),
];

const trash: readonly IndexEntry[] = [
  lazy("ls", "List worktrees in the trash", () => import("./trash/trash.ts"), "ls"),
  operation("trash restore", "trashRestore", {
    arguments: [{ name: "id", description: "Trash id or session id", completes: "trash" }],
    examples: [["restore a deleted session's worktree", "holdfast trash restore ma-12"]],
    notes: "For a session that still exists, use holdfast session restore: it restores the session as well.",
    request: (input) => ({ params: { id: input.arg(0) }, body: {} }),
    print: ({ id, path }) => `Restored ${clean(id)} to ${clean(path)}.`,
  }),
  lazy("empty", "Permanently delete worktrees from the trash", () => import("./trash/trash.ts"), "empty"),
];

const device: readonly IndexEntry[] = [
  lazy("ls", "List logged-in browsers", () => import("./device/device.ts"), "ls"),
  lazy("rename", "Change a device's name", () => import("./device/device.ts"), "rename"),
  lazy("rights", "Change what a device may do", () => import("./device/device.ts"), "setRights"),
  lazy("revoke", "Revoke a device's access", () => import("./device/device.ts"), "revoke"),
];

const token: readonly IndexEntry[] = [
  operation("token rotate", "tokenRotate", {
    summary: "Replace the main token",
    examples: [["replace the token that scripts use", "holdfast token rotate"]],
    notes:
      "The old token stops working immediately, and connections opened with it close. Scripts read the new one from\nthe file. Browsers have their own keys and stay logged in: see holdfast device.",
    request: () => ({ body: {} }),
    print: ({ file }) => `Main token replaced. Scripts read it from ${file}`,
  }),
];

const service: readonly IndexEntry[] = [
  lazy("install", "Start Holdfast at login, with systemd or launchd", () => import("./service/service.ts"), "install"),
  lazy("uninstall", "Uninstall the service", () => import("./service/service.ts"), "uninstall"),
];

export const index: readonly IndexEntry[] = [
  lazy("init", "Set up a repository: configure, register, check tools", () => import("./project/init.ts")),
  group("project", "Add, list, trust and remove projects", "holdfast project add ~/code/my-app", project),
  lazy("spawn", "Start a session", () => import("./spawn/spawn.ts")),
  lazy("batch-spawn", "Start a session for each issue", () => import("./spawn/batch-spawn.ts")),
  group("session", "List and control sessions", "holdfast session ls", session),
  lazy("status", "Show what every session is doing", () => import("./session/status.ts")),
  lazy("send", "Send a prompt to a session", () => import("./session/send.ts")),
  lazy("attach", "Open a session in this terminal", () => import("./session/attach.ts")),
  group("acp", "Manage chat agents and read their transcripts", "holdfast acp ps", acp),
  group("permissions", "List and test permission rules of chat agents", "holdfast permissions ls", permissions),
  lazy("events", "Show a session's events", () => import("./session/events.ts")),
  group("trash", "Manage worktrees of ended sessions", "holdfast trash ls", trash),
  lazy("start", "Start the daemon", () => import("./daemon/start.ts"), "start"),
  lazy("stop", "Stop the daemon; sessions keep running", () => import("./daemon/stop.ts")),
  lazy("restart", "Restart the daemon; sessions keep running", () => import("./daemon/start.ts"), "restart"),
  lazy("info", "Show the daemon's state, address and version", () => Promise.resolve({ command: info })),
  lazy("passphrase", "Generate a passphrase", () => import("./daemon/passphrase.ts")),
  lazy("logs", "Show the daemon's log", () => import("./daemon/logs.ts")),
  lazy("dashboard", "Open the dashboard", () => import("./device/dashboard.ts")),
  lazy("pair", "Log in a phone or another browser", () => import("./device/pair.ts")),
  group("device", "List and revoke logged-in browsers", "holdfast device ls", device),
  group("token", "Manage the main token, for scripts", "holdfast token rotate", token),
  lazy("demo", "Try Holdfast with a scratch project; no account needed", () => import("./demo/demo.ts")),
  lazy("mcp", "Serve sessions as MCP tools on stdio", () => import("../mcp/mcp.ts")),
  lazy("update", "Update Holdfast; sessions keep running", () => import("./daemon/update.ts")),
  lazy("doctor", "Check this machine and this installation", () => import("../doctor/doctor.ts")),
  group("service", "Run the daemon as a service", "holdfast service install", service),
  lazy("completion", "Print a completion script for bash, zsh or fish", () => import("./completion/completion.ts")),
  {
    ...lazy("complete", "Print completions, for the scripts", () => import("./completion/complete.ts")),
    hidden: true,
  },
];

function group(name: string, summary: string, example: string, commands: readonly IndexEntry[]): IndexEntry {
  return { name, summary, example, group: commands };
}
