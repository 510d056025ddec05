import { createInterface } from "node:readline";
import { version } from "../../base/program.ts";
import { inheritedVariables } from "../../base/lineage.ts";
import { resolvePaths } from "../../base/paths.ts";
import { capabilityVariable, socketVariable } from "../../contract/caller.ts";
import type { Context } from "../context.ts";
import { type CommandEntry } from "../command.ts";
import { createMcpServer } from "./server.ts";
import { createTools } from "./tools.ts";

const instructions =
  "Holdfast supervises coding agents, each a session in its own git worktree. List sessions before you act; spawn one " +
  "session for one task; read its output once it is idle; if needsYou is true the user must answer or decide. Inside a " +
  "session these tools reach that session's own project and nothing else.";

/** In the environment of a launch. The daemon believes its own eyes; these say where it is. */
// The socket first: a contained launch does not name its home.
const variables = [socketVariable, "HOLDFAST_HOME", "HOLDFAST_SESSION", capabilityVariable] as const;

/** Codex starts MCP servers without the variables of its own launch: its process still has them [AUTHORIZE-9]. */
function findHome(context: Context): void {
  if (variables.some((name) => (context.env[name] ?? "") !== "")) return;
  const found = inheritedVariables(process.ppid, variables);
  if (found === null) return;
  context.env = { ...context.env, ...found };
  context.paths = resolvePaths(context.env);
}

/** A script that pipes its questions in gets its answers; no one waits for a turn of an hour. */
const graceMs = 5_000;

export const command: CommandEntry = {
  options: [
    {
      long: "project",
      short: "p",
      value: "id",
      description: "Default project for list and spawn",
      completes: "project",
    },
  ],
  examples: [
    ["for Claude Code", "claude mcp add holdfast -- holdfast mcp"],
    ["for Codex", "codex mcp add holdfast -- holdfast mcp"],
    ["for any client that starts a server by its command", "holdfast mcp --project my-app"],
  ],
  notes:
    "Speaks the Model Context Protocol on stdin and stdout until stdin ends. Tools: list_sessions, get_session, " +
    "read_session, spawn_session, send_message. An agent of a session reaches its own project's sessions only.",
  json: false,
  async run(context, input) {
    findHome(context);
    const project = input.text("project") ?? null;
    const tools = createTools(context, project);
    const server = createMcpServer({
      name: "holdfast",
      version,
      instructions,
      tools,
      write: (line) => context.write(`${line}\n`),
    });
    for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) server.take(line);
    await server.close(graceMs);
  },
};
