/** Screens of terminal sessions: as text, and for viewers while the launch is recorded as up. */
import { HoldfastError } from "../contract/errors.ts";
import { asSessionId, type LaunchId, type SessionId } from "../contract/ids.ts";
import type { Handlers, Terminals } from "../ports/api.ts";
import type { TerminalView, ViewEnd } from "../ports/runtime.ts";
import type { Services } from "../supervisor/services.ts";
import { promptRight } from "./authorize.ts";
import { findSession, integer, type Named } from "./find.ts";

/** A screen of a large terminal; more is scrollback, up to what tmux keeps. */
const defaultScreenLines = 60;
const maxScreenLines = 20_000;

type Needs = Pick<Services, "store" | "agents" | "runtimes">;

export function terminalHandlers(services: Needs): Handlers<"screen"> {
  return {
    screen: async (request) => {
      const session = findTerminal(services, request);
      const lines = integer("lines", request.query.lines, defaultScreenLines);
      const text = await services.runtimes.terminal.capture(session, Math.min(lines, maxScreenLines));
      return { lines: text === "" ? [] : text.split("\n") };
    },
  };
}

function findTerminal(services: Needs, request: Named) {
  const session = findSession(services, request);
  if (session.kind === "terminal") return session;
  throw new HoldfastError("conflict", `${session.id} is a chat session and has no screen.`, {
    hint: `Read it with: holdfast acp history ${session.id}`,
  });
}

export function createTerminals(services: Needs): Terminals {
  return {
    typingNeeds: (id) => {
      const session = services.store.session(asSessionId(id));
      return session === null ? "all" : promptRight(services, session);
    },
    open: async (id, request) => {
      const session = findTerminal(services, { params: { id } });
      if (session.run.run !== "up") {
        throw new HoldfastError("conflict", `${session.id} is not running.`, {
          hint: `Bring it back: holdfast session restore ${session.id}`,
        });
      }
      return whileUp(services, session.id, await services.runtimes.terminal.view(session, request));
    },
  };
}

/** Ends the view with the recorded end of the launch: a dead agent's screen stays in tmux for a while. */
function whileUp(services: Needs, id: SessionId, view: TerminalView): TerminalView {
  let sink: { data(bytes: Buffer): void; end: ViewEnd } | null = null;
  let over: string | null = null;
  const end = (why: string): void => {
    if (over !== null) return;
    over = why;
    stop();
    view.close();
    sink?.end(why);
  };
  const check = (): void => {
    const why = whyOver(services, id, view.launch);
    if (why !== null) end(why);
  };
  const stop = services.store.onCommit(check);
  check();
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

function whyOver({ store }: Needs, id: SessionId, launch: LaunchId): string | null {
  const session = store.session(id);
  if (session === null || session.intent.want === "deleted") return "The session was deleted.";
  const { run } = session;
  if (run.run === "up") return run.launch === launch ? null : "The agent was restarted.";
  if (run.run === "launching") return "The agent is restarting.";
  if (run.run === "failed") return `The agent failed: ${run.reason}`;
  if (run.run === "none") return "The agent is not running.";
  const exit = run.exit?.signal ?? (run.exit?.code == null ? null : `exit code ${run.exit.code}`);
  const how = { "own-exit": "exited", crash: "crashed", stopped: "was stopped", lost: "was lost" }[run.how];
  return `The agent ${how}${exit === null ? "" : ` (${exit})`}.`;
}
