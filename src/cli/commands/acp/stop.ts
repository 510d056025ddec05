import { HoldfastError, messageOf } from "../../../contract/error.ts";
import type { VerbAnswer } from "../../../contract/wire.ts";
import type { Context } from "../../context.ts";
import { chatArgument, type CommandEntry, jsonOption, noWaitOption } from "../../command.ts";
import type { Input } from "../../input.ts";
import { clean, compareNaturally } from "../../render/text.ts";
import { callVerb, runVerb, sayNotes, sayVerb, verbJson } from "../session/verb.ts";
import { isAtWork } from "../daemon/stop.ts";

const words = { done: "stopped", recorded: "will be stopped" };

export const command: CommandEntry = {
  arguments: [{ ...chatArgument, optional: true }],
  options: [{ long: "all", description: "every chat session that runs" }, noWaitOption, jsonOption],
  examples: [
    ["end one politely for now", "holdfast acp stop ma-12"],
    ["end all chat agents", "holdfast acp stop --all"],
  ],
  notes:
    "The same as holdfast session stop: worktree and conversation are kept, and the next prompt or holdfast session\nrestore brings it back.",
  daemon: "starts",
  async run(context, input) {
    if (input.flag("all") === input.args.length > 0) {
      throw new HoldfastError("usage", "Give a session or --all, and not both.");
    }
    if (input.flag("all")) return stopAll(context, input);
    sayNotes(context, input, await runVerb(context, input, "stop", words));
    return 0;
  },
};

/** Side by side: each takes as long as its agent takes to end. */
async function stopAll(context: Context, input: Input): Promise<number> {
  const sessions = (await context.call("sessions"))
    .filter((session) => session.kind === "chat" && isAtWork(session))
    .toSorted((a, b) => compareNaturally(a.id, b.id));
  const wait = !input.flag("no-wait");
  const stopped: VerbAnswer[] = [];
  const results = await Promise.allSettled(
    sessions.map(({ id }) => callVerb(context, "stop", id, wait ? {} : { wait })),
  );
  for (const [at, result] of results.entries()) {
    if (result.status === "rejected") {
      context.err(clean(messageOf(result.reason)));
      continue;
    }
    stopped.push(result.value);
    if (!input.flag("json")) sayVerb(context, sessions[at]!.id, "stop", words, { wait, answer: result.value });
    sayNotes(context, input, result.value);
  }
  if (input.flag("json")) context.json(stopped.map(verbJson));
  else if (sessions.length === 0) context.out("No chat agent is running.");
  return stopped.length === sessions.length ? 0 : 1;
}
