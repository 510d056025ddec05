import { HoldfastError } from "../../../contract/error.ts";
import { questionArgument } from "../acp/permissions.ts";
import { type CommandEntry, jsonOption } from "../../command.ts";
import { clean } from "../../render/text.ts";

const facts = ["agent", "project", "tool", "command", "cwd"] as const;

export const command: CommandEntry = {
  arguments: [questionArgument],
  options: [
    { long: "agent", value: "name", description: "Agent that would ask", completes: "agent" },
    { long: "project", short: "p", value: "id", description: "Project it would ask in", completes: "project" },
    {
      long: "tool",
      value: "kind",
      description: "Kind of tool",
      choices: ["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"],
    },
    { long: "command", value: "line", description: "Complete command line", completes: "none" },
    { long: "cwd", value: "directory", description: "Directory of the command", completes: "directory" },
    { long: "path", value: "path", many: true, description: "Path that the call names; repeatable", completes: "file" },
    { long: "session", value: "id", description: "Try an open request of this session", completes: "chat" },
    jsonOption,
  ],
  examples: [
    ["try a command", 'holdfast permissions test --agent claude --tool execute --command "npm test"'],
    ["try an open request", "holdfast permissions test --session ma-12 q41"],
  ],
  notes: "Answers nothing. Relative paths are below the project's directory, or the session's worktree.",
  daemon: "starts",
  async run(context, input) {
    const session = input.text("session");
    const [question] = input.args;
    const given = Object.fromEntries(
      facts.flatMap((name) => (input.text(name) === undefined ? [] : [[name, input.text(name)!]])),
    );
    const paths = input.list("path");
    if (session === undefined && question !== undefined) {
      throw new HoldfastError("usage", `${clean(question)} needs --session.`);
    }
    if (session !== undefined && (paths.length > 0 || Object.keys(given).length > 0)) {
      throw new HoldfastError("usage", "--session takes all facts from the open request; leave out the other options.");
    }
    const query =
      session === undefined
        ? { ...given, ...(paths.length === 0 ? {} : { path: paths.join("\n") }) }
        : { session, ...(question === undefined ? {} : { question }) };
    const verdict = await context.call("permissionTest", { query });
    if (input.flag("json")) return context.json(verdict);
    if (verdict.rule !== null) context.out(`Rule ${verdict.rule}: ${clean(verdict.text ?? "")}`);
    context.out(clean(verdict.reason));
  },
};
