import { realpathSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { type CommandEntry } from "../../command.ts";
import { clean } from "../../render/text.ts";
import { findingLines } from "../../doctor/finding.ts";
import { registeredLines } from "./project.ts";
import { answerFor, decide, trustOptions } from "./answer-trust.ts";

export const command: CommandEntry = {
  arguments: [
    {
      name: "path",
      description: "Repository (default: the one you are in)",
      optional: true,
      completes: "directory",
    },
  ],
  options: [...trustOptions],
  examples: [
    ["set up the repository you are in", "holdfast init"],
    ["set up another repository", "holdfast init ~/code/my-app"],
  ],
  notes:
    "Writes holdfast.yaml (an existing file is left unchanged), registers its projects, and checks tools.\nShows what an existing file would run or change and asks whether you trust it.",
  async run(context, input) {
    const [path] = input.args;
    const [
      { isBelow, shippedSchema, writeConfig },
      { requireRepository },
      { repositoryRoot },
      { agentsFound, checkAgents, checkTools },
    ] = await Promise.all([
      import("../../../config/init.ts"),
      import("../../../config/discover.ts"),
      import("../../../config/repository.ts"),
      import("../../doctor/tools.ts"),
    ]);
    const directory = path === undefined ? (repositoryRoot(context.cwd) ?? context.cwd) : resolve(context.cwd, path);
    requireRepository(directory);
    // Before anything is written: if the daemon cannot start, the repository is not changed.
    const registered = await context.call("projects");
    const isHere = ({ path: at }: { path: string }): boolean => at === realpathSync(directory);
    const others = registered.filter((project) => !isHere(project));
    const written = writeConfig({
      directory,
      agentsFound: agentsFound(context.env),
      prefix: registered.find(isHere)?.prefix,
      takenIds: others.map(({ id }) => id),
      takenPrefixes: others.map(({ prefix }) => prefix),
    });
    // A file written just now is the user's own; nothing in it needs trust.
    const question = written.is === "written" ? null : await context.call("trustAt", { query: { path: directory } });
    const trust = question === null ? null : await decide(context, question, input);
    const added = await context.call("projectAdd", { body: { path: directory } }).catch((error: unknown) => {
      // Removes the new file, so that `init` can be run again once the error is fixed.
      if (written.is === "written") rmSync(written.file, { force: true });
      throw error;
    });
    const projects = question === null || trust === null ? added : await answerFor(context, added, question, trust);
    context.out(written.is === "written" ? `Wrote ${written.file}` : `Kept existing ${written.file}`);
    const tools = [...(await checkTools(context.env)), ...checkAgents(context.env)];
    context.print({ file: written.file, written: written.is === "written", projects }, registeredLines(projects));
    if (input.flag("json")) return;
    const trouble = tools.filter(({ level }) => level === "fail" || level === "warn");
    if (trouble.length > 0) context.err(findingLines(trouble, new Set(), context.paint).slice(0, -2).join("\n"));
    const schema = shippedSchema();
    if (written.is === "written" && schema !== null && !isBelow(directory, schema))
      context.out(`For completion in your editor, use this schema for holdfast.yaml: ${schema}`);
    context.out(`Start a session: holdfast spawn ${clean(projects[0]?.id ?? "")} --prompt '...'`);
  },
};
