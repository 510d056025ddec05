import { HoldfastError } from "../../../contract/errors.ts";
import type { SessionJson } from "../../../contract/session.ts";
import { type CommandEntry, noWaitOption, projectOption, sessionsArgument } from "../../command.ts";
import { clean, count } from "../../render/text.ts";
import { readSessions } from "./ls.ts";
import { chosenSessions, runVerb } from "./verb.ts";

export const command: CommandEntry = {
  arguments: [{ ...sessionsArgument, optional: true }],
  options: [
    { long: "all", description: "Restore every session lost to a stop, or to a reboot with --no-restore" },
    { ...projectOption, description: "With --all: only this project" },
    noWaitOption,
  ],
  examples: [
    ["restore a killed session", "holdfast session restore ma-12"],
    ["restore everything after holdfast stop --halt-sessions", "holdfast session restore --all"],
  ],
  notes:
    "Moves the worktree back from the trash if it is there, and starts the agent in its own conversation.\nAn agent that cannot resume starts a new conversation, with a notice. --all does not change killed, archived\nand snoozed sessions.",
  async run(context, input) {
    const all = input.flag("all");
    const project = input.text("project");
    if (!all && project !== undefined) throw new HoldfastError("usage", "--project requires --all.");
    const ids = await chosenSessions(input, () => readSessions(context, project), isTakenDown);
    if (ids === null) throw new HoldfastError("usage", "Name sessions or use --all, not both.");
    if (ids.length === 0) {
      context.print([], "No session is stopped.");
      return 0;
    }
    let restored = 0;
    const wait = !input.flag("no-wait");
    const code = await runVerb(context, input, {
      operation: "restore",
      done: "restored",
      starts: "session",
      ids,
      print: (id, { session }) => {
        restored++;
        context.out(wait ? restoredLines(session).join("\n") : `Session ${id} will be restored.`);
      },
    });
    if (all) {
      const failed = ids.length - restored;
      context.out(`${count(restored, "session")} restored${failed === 0 ? "" : `, ${failed} failed`}.`);
    }
    return code;
  },
};

/** Stopped, or lost with the machine or its tmux server and not restarted. */
function isTakenDown({ status, end }: SessionJson): boolean {
  return status === "stopped" || (status === "failed" && end?.how === "lost");
}

export function restoredLines(session: Pick<SessionJson, "id" | "workspacePath" | "branch">): string[] {
  return [
    `Session ${session.id} restored.`,
    `  Worktree: ${clean(session.workspacePath)}`,
    ...(session.branch === null ? [] : [`  Branch:   ${clean(session.branch)}`]),
    `  Attach:   holdfast attach ${session.id}`,
  ];
}
