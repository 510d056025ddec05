/** Verbs on sessions that need more than a row of the index. */
import { idsThatConvert } from "../../../agents/registry.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { kinds } from "../../../contract/ids.ts";
import { type CommandEntry, noWaitOption, sessionArgument, sessionsArgument, yesOption } from "../../command.ts";
import { requireYes } from "../../confirm.ts";
import { clean } from "../../render/text.ts";
import { parseDuration } from "../../../model/duration.ts";
import { namedSessions, runVerb, sessionFailure } from "./verb.ts";

const defaultSnooze = "2h";
/** The daemon's limit. */
const longestSnoozeMs = 366 * 24 * 3600 * 1000;

export const snooze: CommandEntry = {
  arguments: [sessionArgument],
  options: [
    {
      long: "for",
      value: "time",
      description: `How long, e.g. 30m, 2h, 1h30m or 3d (default: ${defaultSnooze})`,
    },
    noWaitOption,
  ],
  examples: [["until this evening", "holdfast session snooze ma-12 --for 8h"]],
  notes:
    "Stops its processes and keeps the worktree and conversation. It restarts at the given time, or on the next prompt.",
  run(context, input) {
    const text = input.text("for") ?? defaultSnooze;
    const forMs = parseDuration(text);
    if (forMs === null) throw new HoldfastError("usage", `--for must be a time such as 30m, 2h or 3d, not ${text}.`);
    if (forMs > longestSnoozeMs) {
      throw new HoldfastError("usage", `--for must be at most a year, not ${text}.`, {
        hint: "To stop a session without a time limit: holdfast session archive.",
      });
    }
    const done = `snoozed until ${new Date(context.now() + forMs).toLocaleString()}`;
    return runVerb(context, input, { operation: "snooze", done, body: { forMs } });
  },
};

export const convert: CommandEntry = {
  arguments: [sessionArgument],
  options: [
    { long: "kind", value: "kind", description: "Kind to switch to", choices: kinds },
    { long: "fresh", description: "Discard the conversation and start a new one" },
    noWaitOption,
  ],
  examples: [
    ["continue in the agent's own terminal", "holdfast session convert ma-12 --kind terminal"],
    ["start over as a chat", "holdfast session convert ma-12 --kind chat --fresh"],
  ],
  notes: `Stops the session, then starts it as the other kind in the same worktree and conversation, if the agent supports
that (${idsThatConvert.join(", ")}). --fresh deletes the agent's conversation. This cannot be undone.
If you stop or kill the session meanwhile, the conversion is dropped (exit 1).`,
  run(context, input) {
    const kind = input.text("kind");
    if (kind === undefined) throw new HoldfastError("usage", "Missing --kind: use --kind terminal or --kind chat.");
    const body = { kind, ...(input.flag("fresh") ? { fresh: true } : {}) };
    return runVerb(context, input, { operation: "convert", done: `converted to ${kind}`, body });
  },
};

export const deleteSession: CommandEntry = {
  arguments: [sessionsArgument],
  options: [yesOption, noWaitOption],
  examples: [["delete it without a confirmation prompt", "holdfast session delete ma-12 --yes"]],
  notes: "A deleted session cannot be restored. Its worktree stays in the trash for 14 days.",
  async run(context, input) {
    const ids = namedSessions(input);
    if (!input.flag("yes")) {
      const names: string[] = [];
      for (const id of ids) {
        try {
          const { title } = await context.call("session", { params: { id } });
          names.push(`${id} (${clean(title)})`);
        } catch (error) {
          throw await sessionFailure(context, "delete", id, error);
        }
      }
      await requireYes(context, `Delete ${names.join(", ")} permanently?`, {
        refusal: "Nothing was deleted.",
        hint: `Add --yes to delete ${ids.length === 1 ? "it" : "them"}.`,
      });
    }
    return runVerb(context, input, { operation: "delete", done: "deleted" });
  },
};
