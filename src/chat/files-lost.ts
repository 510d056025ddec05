/**
 * The files between us and an agent were removed while it runs. It can neither be read nor spoken to from then on: its turn
 * is settled, so that nothing waits for it, and it is replaced by a new launch of its conversation [CHAT-200].
 */
import type { FactEvent } from "../contract/event.ts";
import type { AcpContext } from "./context.ts";
import type { Worker } from "./agent-process.ts";

export async function filesLost(context: AcpContext, worker: Worker): Promise<void> {
  const { session, launch, directory } = worker;
  context.log.error("an agent's files were removed under it; it is started again", { session, directory });
  // First: whatever is asked meanwhile must not be given to it.
  worker.feederGone = true;
  try {
    await context.store.chat(session, launch, (state) => {
      const { run } = state;
      if (run.run !== "up" || run.launch !== launch) return null;
      const text = `The agent's files (${directory}) were removed while it ran: what it wrote since is lost. It is started again.`;
      const events: FactEvent[] = [{ type: "notice", level: "warn", text }];
      if (state.turn.turn === "open") {
        events.push({
          type: "turn.ended",
          stopReason: "orphaned_at_restart",
          promptId: state.turn.prompt,
          message: text,
        });
      }
      return { events };
    });
    worker.turnOpen = false;
  } catch (error) {
    worker.missingSince = null;
    worker.lossReported = false;
    context.log.warn("the loss of an agent's files could not be recorded; it is tried again", { session, error });
  }
  context.hint(session);
}
