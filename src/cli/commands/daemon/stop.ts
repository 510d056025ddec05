import { existsSync } from "node:fs";
import { isTerminated } from "../../../model/session.ts";
import type { SessionJson } from "../../../contract/wire.ts";
import { HoldfastError } from "../../../contract/error.ts";
import type { Context } from "../../context.ts";
import type { StopOutcome } from "../../system/daemon/control.ts";
import { type CommandEntry, jsonOption, yesOption } from "../../command.ts";
import { findDaemon } from "../../system/daemon/find-daemon.ts";
import { stopJson, stopLines } from "../../render/daemon.ts";
import { clean, compareNaturally, count } from "../../render/text.ts";

export const command: CommandEntry = {
  options: [
    { long: "halt-sessions", description: "also stop the sessions; worktrees and conversations are kept" },
    { ...yesOption, description: "with --halt-sessions: do not ask" },
    jsonOption,
  ],
  examples: [
    ["end the daemon and nothing else", "holdfast stop"],
    ["stop every session as well", "holdfast stop --halt-sessions"],
  ],
  notes:
    "What happens to sessions: they keep running, unsupervised, turns in flight included; `holdfast start` takes them\nover again. Only --halt-sessions stops them. It works with the daemon down, too.",
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
      // A daemon that was started only for this goes again.
      if (wasDown) await stop(context);
      throw error;
    }
    const { lines, exitCode } = stopLines(outcome);
    if (input.flag("json")) context.json(stopJson(outcome));
    else for (const line of lines) (exitCode === 0 ? context.out : context.err)(line);
    return exitCode;
  },
};

/** Asks where something would be interrupted. Nothing is stopped unless the answer is yes. */
async function confirmHalt(context: Context, yes: boolean): Promise<void> {
  const found = findDaemon(context.paths);
  // No database: nothing was ever started here.
  if (found.daemon === "none" && !existsSync(context.paths.database)) return;
  if (found.daemon === "none")
    await (await import("../../system/daemon/control.ts")).startAgain(context, { mayHalt: true });
  context.mayStart = true;
  const sessions = (await context.call("sessions")).filter(isAtWork).toSorted((a, b) => compareNaturally(a.id, b.id));
  if (sessions.length === 0 || yes) return;
  context.err(`${count(sessions.length, "session")} would be stopped:`);
  for (const { id, status, title } of sessions) context.err(`  ${id}  [${status}]  ${clean(title)}`);
  const { askYesNo } = await import("../../confirm.ts");
  if (context.isTerminal(0) && (await askYesNo("Stop them?"))) return;
  throw new HoldfastError(
    "conflict",
    "Nothing was stopped.",
    context.isTerminal(0) ? {} : { hint: "Add --yes to stop them." },
  );
}

/** Every session with a live process; and where that cannot be told, rather one too many. */
export function isAtWork(session: Pick<SessionJson, "status" | "processes">): boolean {
  if (session.processes.length > 0) return true;
  return !isTerminated(session.status) && (session.status === "starting" || session.status === "unknown");
}
