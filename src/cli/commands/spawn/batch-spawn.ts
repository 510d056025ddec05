import { Slots } from "../../../base/async.ts";
import { messageOf } from "../../../contract/errors.ts";
import { kinds } from "../../../contract/ids.ts";
import { callSpawn, spawnBody, spawnOptionEntries, batchLine, type BatchResult, batchSummary } from "./call-spawn.ts";
import { type CommandEntry, noWaitOption, projectOption } from "../../command.ts";
import { noProjectHere, projectAt, unknownProject } from "../project/find-project.ts";
import { settleTrust, trustOptions } from "../project/answer-trust.ts";
import { Waits } from "./waits.ts";

/** As many as the daemon starts at the same time; more would only wait there. */
const concurrency = 4;

export const command: CommandEntry = {
  arguments: [{ name: "issue", description: "Issues to work on", variadic: true }],
  options: [
    { ...projectOption, description: "Project id (optional inside a registered repository)" },
    ...spawnOptionEntries,
    { long: "kind", value: "kind", description: "Kind of session", choices: kinds },
    { long: "resume", description: "Reuse the issues' existing sessions" },
    ...trustOptions,
    noWaitOption,
  ],
  examples: [["start three sessions", "holdfast batch-spawn 101 102 103 -p my-app"]],
  notes: "Prints one line per issue as each session starts. Exits 1 if any spawn failed; the others keep running.",
  async run(context, input) {
    const projects = await context.call("projects");
    const named = input.text("project");
    const project = named === undefined ? projectAt(context.cwd, projects) : projects.find(({ id }) => id === named);
    if (named !== undefined && project === undefined) throw unknownProject(named, projects);
    if (project === null || project === undefined) throw noProjectHere(context.cwd);
    await settleTrust(context, project, input);
    const issues = [...new Set(input.args)];
    const waits = new Waits(context, issues.length);
    const slots = new Slots(concurrency, Infinity);
    const spawnOne = async (issue: string): Promise<BatchResult> => {
      try {
        const session = await callSpawn(context, waits, spawnBody({ project: project.id, issue, input }));
        return { issue, session: session.id, error: null };
      } catch (error) {
        return { issue, session: null, error: messageOf(error) };
      }
    };
    const results = await Promise.all(
      issues.map((issue) =>
        slots.run(async () => {
          const result = await spawnOne(issue);
          context.out(batchLine(result));
          return result;
        }),
      ),
    );
    context.print(results, batchSummary(results));
    return results.some(({ session }) => session === null) ? 1 : 0;
  },
};
