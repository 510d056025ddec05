/** Commands on the user's permission rules for chat agents. */
import { HoldfastError } from "../../../contract/errors.ts";
import { type CommandEntry } from "../../command.ts";
import { clean, table } from "../../render/text.ts";
import { requestArgument } from "../acp/permissions.ts";
import { operationCommand } from "../operation.ts";

export const ls: CommandEntry = {
  examples: [["list rules in the order they are tried", "holdfast permissions ls"]],
  notes:
    "Rules are in your config.yaml, under permissions, and apply to chat sessions. The first matching rule answers;\nrequests that match no rule wait for you. An agent in a terminal asks on its own screen.",
  async run(context, input) {
    const { file, problem, rules } = await context.call("permissionRules");
    if (input.flag("json")) context.json({ file, problem, rules });
    if (problem !== null) {
      throw new HoldfastError("invalid", `No permission rule is active: ${problem}`, {
        hint: "Fix the file. Until then every permission request waits for you.",
      });
    }
    if (rules.length === 0) return context.out(`No permission rules in ${clean(file)}: every request waits for you.`);
    const rows = rules.map(({ number, text, line }) => [
      String(number),
      clean(text),
      context.paint.dim(`${clean(file)}:${line}`),
    ]);
    context.out(table(rows).join("\n"));
  },
};

export const test = operationCommand("permissionTest", {
  arguments: [requestArgument],
  options: [
    { long: "agent", value: "name", description: "Agent that asks", completes: "agent" },
    { long: "project", short: "p", value: "id", description: "Project it asks in", completes: "project" },
    {
      long: "tool",
      value: "kind",
      description: "Kind of tool",
      choices: ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"],
    },
    { long: "command", value: "line", description: "Complete command line" },
    { long: "cwd", value: "directory", description: "Directory of the command", completes: "directory" },
    { long: "path", value: "path", many: true, description: "Path in the call (repeatable)", completes: "file" },
    { long: "session", value: "id", description: "Test an open request of this session", completes: "chat" },
  ],
  examples: [
    ["test a command", 'holdfast permissions test --agent claude --tool execute --command "npm test"'],
    ["test an open request", "holdfast permissions test --session ma-12 q41"],
  ],
  notes: "Answers nothing. Relative paths are below the project's directory, or the session's worktree.",
  request(input) {
    const session = input.text("session");
    const [question] = input.args;
    const given = input.texts("agent", "project", "tool", "command", "cwd");
    const paths = input.list("path");
    if (session === undefined && question !== undefined) {
      throw new HoldfastError("usage", `${clean(question)} requires --session.`);
    }
    if (session !== undefined && (paths.length > 0 || Object.keys(given).length > 0)) {
      throw new HoldfastError("usage", "--session reads everything from the open request; omit the other options.");
    }
    const query =
      session === undefined
        ? { ...given, ...(paths.length === 0 ? {} : { path: paths.join("\n") }) }
        : { session, ...(question === undefined ? {} : { question }) };
    return { query };
  },
  print: ({ rule, text, reason }) =>
    [...(rule === null ? [] : [`Rule ${rule}: ${clean(text ?? "")}`]), clean(reason)].join("\n"),
});
