/** Screens for viewers: only of a launch that is on record as up, and only for as long as it is. */
import type { Terminals } from "../ports/api.ts";
import type { TerminalView, ViewEnd } from "../ports/runtime.ts";
import { HoldfastError } from "../contract/errors.ts";
import { asSessionId, type LaunchId, type SessionId } from "../contract/ids.ts";
import { promptRight } from "./authorize.ts";
import type { Services } from "../supervisor/services.ts";

export function createTerminals(parts: Services): Terminals {
  return {
    typingNeeds: (id) => {
      const session = parts.store.session(asSessionId(id));
      return session === null ? "all" : promptRight(parts, session);
    },
    open: async (id, request) => {
      const session = parts.store.session(asSessionId(id));
      if (session === null || session.intent.want === "deleted") {
        throw new HoldfastError("not-found", "Session not found", {
          details: { reason: "session-not-found", session: id },
        });
      }
      if (session.kind !== "terminal")
        throw new HoldfastError("conflict", `${session.id} is a chat; it has no screen.`);
      if (session.run.run !== "up") {
        throw new HoldfastError("conflict", `${session.id} is not running.`, {
          hint: `Bring it back: holdfast session restore ${session.id}`,
        });
      }
      const view = await parts.runtimes.terminal.view(session, request);
      return whileUp(parts, session.id, view);
    },
  };
}

/** Ends the view with the launch, by what is on record: a dead agent's screen stays in tmux a while longer. */
function whileUp(parts: Services, id: SessionId, view: TerminalView): TerminalView {
  let sink: { data(bytes: Buffer): void; end: ViewEnd } | null = null;
  let over: string | null = null;
  const end = (why: string): void => {
    if (over !== null) return;
    over = why;
    stop();
    view.close();
    sink?.end(why);
  };
  const look = (): void => {
    const why = whyNot(parts, id, view.launch);
    if (why !== null) end(why);
  };
  const stop = parts.store.onCommit(look);
  look();
  return {
    launch: view.launch,
    start: (given) => {
      sink = given;
      if (over !== null) given.end(over);
      else view.start({ data: (bytes) => given.data(bytes), end });
    },
    write: (bytes) => {
      if (over === null) view.write(bytes);
    },
    resize: (cols, rows) => view.resize(cols, rows),
    watchOnly: (on) => view.watchOnly(on),
    pause: () => view.pause(),
    resume: () => view.resume(),
    close: () => {
      sink = null;
      end("closed");
    },
  };
}

function whyNot(parts: Services, id: SessionId, launch: LaunchId): string | null {
  const session = parts.store.session(id);
  if (session === null || session.intent.want === "deleted") return "The session was deleted.";
  const { run } = session;
  if (run.run === "up") return run.launch === launch ? null : "The agent was started anew.";
  if (run.run === "launching") return "The agent is being started anew.";
  if (run.run === "failed") return `The agent failed: ${run.reason}`;
  if (run.run === "none") return "The agent is not running.";
  const exit = run.exit?.signal ?? (run.exit?.code == null ? null : `exit code ${run.exit.code}`);
  const how = { "own-exit": "ended by itself", crash: "crashed", stopped: "was stopped", lost: "was lost" }[run.how];
  return `The agent ${how}${exit === null ? "" : ` (${exit})`}.`;
}
