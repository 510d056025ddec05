/** Commands on registered projects and the trust in their holdfast.yaml. */
import { resolve } from "node:path";
import { isOff } from "../../../contract/trust.ts";
import type { ProjectJson } from "../../../contract/project.ts";
import { type CommandEntry, projectArgument, yesOption } from "../../command.ts";
import { requireYes } from "../../confirm.ts";
import { clean, count, table } from "../../render/text.ts";
import { compareNaturally } from "../../../model/text.ts";
import { operationCommand } from "../operation.ts";
import { answerFor, decide, trustLines, trustOptions } from "./answer-trust.ts";

export const ls = operationCommand("projects", {
  examples: [["list registered projects", "holdfast project ls"]],
  request: () => ({}),
  print: (projects) => projectLines(projects).join("\n"),
});

export const add: CommandEntry = {
  arguments: [{ name: "path", description: "Repository, or directory with a holdfast.yaml", completes: "directory" }],
  options: [...trustOptions, { long: "move", description: "Move projects here from the file that defines them now" }],
  examples: [
    ["register a repository", "holdfast project add ~/code/my-app"],
    ["register and trust it, in a script", "holdfast project add ~/code/my-app --trust"],
  ],
  notes:
    "Registers the projects in <path>/holdfast.yaml, or, without that file, the repository itself with defaults.\nShows what the file would run or change and asks whether you trust it; until then sessions use defaults.",
  async run(context, input) {
    const path = resolve(context.cwd, input.arg(0));
    const question = await context.call("trustAt", { query: { path } });
    const trust = await decide(context, question, input);
    // Registered first: sessions use defaults until the answer is recorded.
    const body = { path, ...(input.flag("move") ? { move: true } : {}) };
    const added = await context.call("projectAdd", { body });
    const projects = trust === null ? added : await answerFor(context, added, question, trust);
    context.print(projects, registeredLines(projects));
  },
};

export const trust: CommandEntry = {
  arguments: [projectArgument],
  options: [yesOption, { long: "show", description: "Only show the settings that need trust" }],
  examples: [
    ["review a project's holdfast.yaml and trust it", "holdfast project trust my-app"],
    ["only review it", "holdfast project trust my-app --show"],
    ["trust it in a script", "holdfast project trust my-app --yes"],
  ],
  notes:
    "Shows what the repository's holdfast.yaml would run or change, with a diff if you answered before, and asks.\nThe answer covers exactly these settings; comments and harmless settings may change.",
  async run(context, input) {
    const id = input.arg(0);
    const question = await context.call("trust", { params: { id } });
    const json = input.flag("json");
    const open = question.parts.length > 0 && question.state !== "trusted";
    if (!json || (open && !input.flag("yes") && !input.flag("show"))) {
      (json ? context.err : context.out)(trustLines(question).join("\n"));
    }
    if (input.flag("show") || !open || question.digest === null) {
      context.print(question, null);
      return;
    }
    if (!input.flag("yes")) {
      await requireYes(context, "Trust this file?", {
        refusal: "Nothing was trusted.",
        hint: "Add --yes to trust these settings, or --show to only print them.",
      });
    }
    const body = { digest: question.digest, trust: true };
    const answered = await context.call("trustAnswer", { params: { id }, body });
    context.print(answered, `${clean(answered.file ?? "")} is trusted. It applies to new sessions.`);
  },
};

export const untrust: CommandEntry = {
  arguments: [projectArgument],
  examples: [["stop using the repository's file", "holdfast project untrust my-app"]],
  notes:
    "New sessions use defaults. Running sessions keep running. Earlier versions of the file are no longer trusted either.",
  async run(context, input) {
    const id = input.arg(0);
    const question = await context.call("trust", { params: { id } });
    const nothing = question.digest === null || question.parts.length === 0;
    const answered = nothing
      ? question
      : await context.call("trustAnswer", { params: { id }, body: { digest: question.digest ?? "", trust: false } });
    context.print(
      answered,
      nothing
        ? `Nothing in project ${clean(id)} needs trust.`
        : `${clean(answered.file ?? "")} is not trusted. New sessions of ${clean(id)} use defaults.`,
    );
  },
};

/** After `init` and `project add`. */
export function registeredLines(projects: readonly ProjectJson[]): string[] {
  return projects.flatMap(({ id, path, trust = "none", notices = [] }) => [
    `Project ${clean(id)} registered (${clean(path)}).`,
    ...(isOff(trust)
      ? [`  Its holdfast.yaml is not trusted; sessions use defaults. Change it: holdfast project trust ${clean(id)}`]
      : []),
    ...notices.map((notice) => `  Note: ${clean(notice)}`),
  ]);
}

function projectLines(projects: readonly ProjectJson[]): string[] {
  if (projects.length === 0) return ["No projects. Register one with holdfast init or holdfast project add <path>."];
  return table(
    projects
      .toSorted((a, b) => compareNaturally(a.id, b.id))
      .map(({ id, prefix, agent, kind, sessions, path, trust = "none" }) => [
        clean(id),
        `${clean(prefix)}-*`,
        `${clean(agent)} (${kind})`,
        count(sessions, "session"),
        isOff(trust) ? `${clean(path)}  (holdfast.yaml not trusted)` : clean(path),
      ]),
  );
}
