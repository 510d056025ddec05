import { type CommandEntry, jsonOption, projectOption } from "../../command.ts";
import { chooseSessions, sessionLines } from "../../render/sessions.ts";
import { cut } from "../../render/width.ts";

export const command: CommandEntry = {
  options: [
    projectOption,
    { long: "all", short: "a", description: "also orchestrators; each line ends with the role" },
    { long: "include-terminated", description: "also sessions that are killed, exited, done or archived" },
    jsonOption,
  ],
  examples: [
    ["all sessions", "holdfast session ls"],
    ["one project's, ended ones included", "holdfast session ls -p my-app --include-terminated"],
  ],
  daemon: "starts",
  async run(context, input) {
    const project = input.text("project");
    const sessions = await context.call("sessions", project === undefined ? {} : { query: { project } });
    if (project !== undefined && sessions.length === 0) {
      const { requireProject } = await import("../project/find-project.ts");
      await requireProject(context, project);
    }
    const options = { all: input.flag("all"), includeTerminated: input.flag("include-terminated") };
    if (input.flag("json")) context.json(chooseSessions(sessions, options).shown);
    else {
      const columns = context.terminalSize()?.columns ?? Infinity;
      const lines = sessionLines(sessions, options, context.paint, context.now());
      context.out(lines.map((line) => cut(line, columns)).join("\n"));
    }
  },
};
