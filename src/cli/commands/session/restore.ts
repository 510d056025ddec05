import { HoldfastError } from "../../../contract/error.ts";
import type { SessionJson } from "../../../contract/wire.ts";
import { type CommandEntry, jsonOption, noWaitOption, projectOption } from "../../command.ts";
import { restoredLines } from "../../render/restored.ts";
import { count, sortedNaturally } from "../../render/text.ts";
import { namedSessions, sessionsArgument, verbOnAll } from "./several.ts";
import { waitingBack } from "../spawn/waits.ts";

export const command: CommandEntry = {
  arguments: [{ ...sessionsArgument, optional: true }],
  options: [
    { long: "all", description: "Every session that a stop, or a reboot with --no-restore, took down" },
    { ...projectOption, description: "With --all: only this project" },
    noWaitOption,
    jsonOption,
  ],
  examples: [
    ["bring a killed session back", "holdfast session restore ma-12"],
    ["after holdfast stop --halt-sessions: bring everything back", "holdfast session restore --all"],
  ],
  notes:
    "Its worktree comes back from the trash if it is there, and the agent is started in its own conversation.\nAn agent that cannot resume starts a new conversation, with a notice. --all leaves killed, archived and snoozed\nsessions as they are.",
  daemon: "starts",
  async run(context, input) {
    const all = input.flag("all");
    if (all === input.args.length > 0) throw new HoldfastError("usage", "Name sessions or use --all, not both.");
    if (!all && input.text("project") !== undefined) throw new HoldfastError("usage", "--project requires --all.");
    const ids = all ? await stoppedSessions() : namedSessions(input);
    if (ids.length === 0) {
      if (input.flag("json")) context.json([]);
      else context.out("No session is stopped.");
      return 0;
    }
    let restored = 0;
    const wait = !input.flag("no-wait");
    const code = await verbOnAll(
      context,
      input,
      "restore",
      { done: "restored", recorded: "will be restored" },
      {
        ids,
        calls: waitingBack(context, input, ids.length),
        say: (id, answer) => {
          restored++;
          context.out(wait ? restoredLines(answer.session).join("\n") : `Session ${id} will be restored.`);
        },
      },
    );
    if (all && !input.flag("json")) {
      const failed = ids.length - restored;
      context.out(`${count(restored, "session")} restored${failed === 0 ? "" : `, ${failed} failed`}.`);
    }
    return code;

    async function stoppedSessions(): Promise<string[]> {
      const project = input.text("project");
      const sessions = await context.call("sessions", project === undefined ? {} : { query: { project } });
      if (project !== undefined && sessions.length === 0) {
        const { requireProject } = await import("../project/find-project.ts");
        await requireProject(context, project);
      }
      return sortedNaturally(sessions.filter(isTakenDown), ({ id }) => id).map(({ id }) => id);
    }
  },
};

/** By a stop, or lost with the machine or its tmux server and not restarted. */
function isTakenDown({ status, end }: SessionJson): boolean {
  return status === "stopped" || (status === "failed" && end?.how === "lost");
}
