import { Slots } from "../../../base/async.ts";
import { messageOf } from "../../../contract/error.ts";
import { kinds } from "../../../model/session.ts";
import { callSpawn } from "./call-spawn.ts";
import { type CommandEntry, jsonOption, noWaitOption, projectOption } from "../../command.ts";
import { noProjectHere, projectAt, unknownProject } from "../project/find-project.ts";
import { batchLine, type BatchResult, batchSummary } from "../../render/spawned.ts";
import { spawnBody, spawnOptionEntries } from "./spawn-options.ts";
import { settleTrust, trustOptions } from "../project/answer-trust.ts";
import { Waits } from "./waits.ts";

/** As many as the daemon starts at once; more would only wait there. */
const atOnce = 4;

export const command: CommandEntry = {
  arguments: [{ name: "issue", description: "issues to work on", variadic: true, completes: "none" }],
  options: [
    { ...projectOption, description: "their project; inside a registered repository it may be left out" },
    ...spawnOptionEntries,
    { long: "kind", value: "kind", description: "terminal or chat", choices: kinds },
    { long: "resume", description: "take up the sessions that the issues already have" },
    ...trustOptions,
    noWaitOption,
    jsonOption,
  ],
  examples: [["three issues at once", "holdfast batch-spawn 101 102 103 -p my-app"]],
  notes: "One line for each issue as it comes up. Exit code 1 if any failed; the others run.",
  daemon: "starts",
  async run(context, input) {
    const projects = await context.call("projects");
    const named = input.text("project");
    const project = named === undefined ? projectAt(context.cwd, projects) : projects.find(({ id }) => id === named);
    if (named !== undefined && project === undefined) throw unknownProject(named, projects);
    if (project === null || project === undefined) throw noProjectHere(context.cwd);
    await settleTrust(context, project, input);
    const json = input.flag("json");
    const issues = [...new Set(input.args)];
    const waits = new Waits(context, issues.length);
    const slots = new Slots(atOnce, Infinity);
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
          if (!json) context.out(batchLine(result));
          return result;
        }),
      ),
    );
    if (json) context.json(results);
    else context.out(batchSummary(results));
    return results.some(({ session }) => session === null) ? 1 : 0;
  },
};
