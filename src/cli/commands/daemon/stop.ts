import { existsSync } from "node:fs";
import { isTerminated } from "../../../model/board.ts";
import type { SessionJson } from "../../../contract/session.ts";
import { requireYes } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import type { StopOutcome } from "../../system/daemon/control.ts";
import { type CommandEntry, yesOption } from "../../command.ts";
import { findDaemon } from "../../system/daemon/find-daemon.ts";
import { printStop } from "../../render/daemon.ts";
import { clean, count } from "../../render/text.ts";
import { compareNaturally } from "../../../model/text.ts";

export const command: CommandEntry = {
  options: [
    { long: "halt-sessions", description: "Also stop the sessions; worktrees and conversations are kept" },
    { ...yesOption, description: "With --halt-sessions: skip the confirmation prompt" },
  ],
  examples: [
    ["stop only the daemon", "holdfast stop"],
    ["stop every session as well", "holdfast stop --halt-sessions"],
  ],
  notes:
    "Sessions keep running unsupervised, including their current turns; holdfast start adopts them. Only --halt-sessions\nstops them. This also works if the daemon is not running.",
  daemon: "alone",
  async run(context, input) {
    const halt = input.flag("halt-sessions");
    const wasDown = findDaemon(context.paths).daemon === "none";
    const { stop } = await import("../../system/daemon/control.ts");
    let outcome: StopOutcome;
    try {
      if (halt) await confirmHalt(context, input.flag("yes"));
      outcome = await stop(context, { haltSessions: halt });
    } catch (error) {
      // A daemon that was started only for this exits again.
      if (wasDown) await stop(context);
      throw error;
    }
    return printStop(context, outcome);
  },
};

/** Asks if sessions would be interrupted. Nothing is stopped unless the answer is yes. */
async function confirmHalt(context: Context, yes: boolean): Promise<void> {
  const found = findDaemon(context.paths);
  // No database: nothing was ever started here.
  if (found.daemon === "none" && !existsSync(context.paths.database)) return;
  if (found.daemon === "none")
    await (await import("../../system/daemon/control.ts")).startAgain(context, { mayHalt: true });
  context.mayStart = true;
  const sessions = (await context.call("sessions"))
    .filter(hasProcesses)
    .toSorted((a, b) => compareNaturally(a.id, b.id));
  if (sessions.length === 0 || yes) return;
  context.err(`${count(sessions.length, "session")} would be stopped:`);
  for (const { id, status, title } of sessions) context.err(`  ${id}  [${status}]  ${clean(title)}`);
  await requireYes(context, "Stop them?", { refusal: "Nothing was stopped.", hint: "Add --yes to stop them." });
}

/** Whether a session has live processes; true if that cannot be determined. */
export function hasProcesses(session: Pick<SessionJson, "status" | "processes">): boolean {
  if (session.processes.length > 0) return true;
  return !isTerminated(session.status) && (session.status === "starting" || session.status === "unknown");
}
