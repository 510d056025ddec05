import type { SessionJson } from "../../../contract/session.ts";
import { type CommandEntry, projectOption } from "../../command.ts";
import type { Context } from "../../context.ts";
import { chooseSessions, sessionLines } from "../../render/sessions.ts";
import { cut } from "../../render/text.ts";

export const command: CommandEntry = {
  options: [
    projectOption,
    { long: "all", short: "a", description: "Include orchestrators; each line ends with the role" },
    { long: "include-terminated", description: "Include killed, exited, done and archived sessions" },
  ],
  examples: [
    ["list all sessions", "holdfast session ls"],
    ["list one project's, including ended ones", "holdfast session ls -p my-app --include-terminated"],
  ],
  async run(context, input) {
    const sessions = await readSessions(context, input.text("project"));
    const options = { all: input.flag("all"), includeTerminated: input.flag("include-terminated") };
    const columns = context.terminalSize()?.columns ?? Infinity;
    const lines = sessionLines(sessions, options, context.paint, context.now());
    context.print(
      chooseSessions(sessions, options).shown,
      lines.map((line) => cut(line, columns)),
    );
  },
};

/** All sessions, or those of one project; throws if the project does not exist. */
export async function readSessions(context: Context, project: string | undefined): Promise<SessionJson[]> {
  const sessions = await context.call("sessions", project === undefined ? {} : { query: { project } });
  if (project !== undefined && sessions.length === 0) {
    const { requireProject } = await import("../project/find-project.ts");
    await requireProject(context, project);
  }
  return sessions;
}
