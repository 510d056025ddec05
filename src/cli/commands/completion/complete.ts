import { builtInAgents } from "../../../contract/agents.ts";
import { completions, type Candidate } from "./completions.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, type Completes } from "../../command.ts";
import { clean } from "../../render/text.ts";
import { index } from "../index.ts";

export const command: CommandEntry = {
  arguments: [{ name: "words", description: "what is typed so far", optional: true, variadic: true, mayBeEmpty: true }],
  examples: [["candidates for a session's name", "holdfast complete -- session kill ma-"]],
  daemon: "alone",
  async run(context, input) {
    const found = await completions(index, input.args, (what) => names(context, what));
    if (found.length === 0) return;
    context.out(found.map(({ word, description }) => `${clean(word)}\t${clean(description)}`.trimEnd()).join("\n"));
  },
};

/** A shell must not hang on TAB, nor print errors into the person's line: what cannot be asked is left out. */
async function names(context: Context, what: Completes): Promise<readonly Candidate[]> {
  try {
    switch (what) {
      case "file":
        return [{ word: ":files", description: "" }];
      case "directory":
        return [{ word: ":directories", description: "" }];
      case "session":
        return (await context.call("sessions")).map(({ id, status, title }) => ({
          word: id,
          description: `${status} ${title}`,
        }));
      case "chat":
        return (await context.call("sessions"))
          .filter(({ kind }) => kind === "chat")
          .map(({ id, status, title }) => ({ word: id, description: `${status} ${title}` }));
      case "request":
        return (await context.call("sessions")).flatMap(({ id, permissions }) =>
          permissions.map(({ requestId, title }) => ({ word: requestId, description: `${id}: ${title}` })),
        );
      case "project":
        return (await context.call("projects")).map(({ id, path }) => ({ word: id, description: path }));
      case "trash":
        return (await context.call("trash")).map(({ id, session }) => ({ word: id, description: session }));
      case "device":
        return (await context.call("devices")).map(({ id, name }) => ({ word: id, description: name }));
      case "agent": {
        // The daemon knows the user's own agents as well.
        const known = await context.call("settings").catch(() => null);
        const offered = known?.agents ?? builtInAgents.map((id) => ({ id, name: "" }));
        const named = new Map(offered.map(({ id, name }) => [id, name]));
        return [...named].map(([word, description]) => ({ word, description }));
      }
      case "none":
        return [];
      default:
        return what satisfies never;
    }
  } catch {
    return [];
  }
}
