import { HoldfastError } from "../../../contract/error.ts";
import { kinds } from "../../../model/session.ts";
import { type CommandEntry, jsonOption, noWaitOption, sessionArgument } from "../../command.ts";
import { runVerb, sayNotes } from "./verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  options: [
    { long: "kind", value: "kind", description: "what it becomes", choices: kinds },
    { long: "fresh", description: "discard the conversation instead of handing it over" },
    noWaitOption,
    jsonOption,
  ],
  examples: [
    ["continue in the agent's own screen", "holdfast session convert ma-12 --kind terminal"],
    ["begin a new conversation as a chat", "holdfast session convert ma-12 --kind chat --fresh"],
  ],
  notes:
    "Ends one side completely, then starts the other in the same worktree and conversation, where the agent supports that\n(claude, codex, opencode). With --fresh the agent is asked to delete its conversation: that cannot be undone.\nIf you stop or kill the session meanwhile, that holds and the conversion is dropped (exit 1).",
  daemon: "starts",
  async run(context, input) {
    const kind = input.text("kind");
    if (kind === undefined) throw new HoldfastError("usage", "Say what it becomes: --kind terminal or --kind chat.");
    const words = { done: `converted to ${kind}`, recorded: `will be converted to ${kind}` };
    const body = { kind, ...(input.flag("fresh") ? { fresh: true } : {}) };
    sayNotes(context, input, await runVerb(context, input, "convert", words, body));
  },
};
