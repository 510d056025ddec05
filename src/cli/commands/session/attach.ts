import { HoldfastError } from "../../../contract/errors.ts";
import type { SessionJson } from "../../../contract/session.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, sessionArgument } from "../../command.ts";
import { sessionFailure } from "./verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  json: false,
  examples: [["open it in this terminal", "holdfast attach ma-12"]],
  notes:
    "A terminal session opens in tmux: detach with Ctrl-B, then d (inside your own tmux with the same prefix: Ctrl-B\ntwice, then d). A chat session streams its transcript and sends each line as a prompt; one key answers a permission\nrequest. Ctrl-C cancels the current turn; Ctrl-C twice or Ctrl-D detaches. The agent keeps running.",
  async run(context, input) {
    const id = input.arg(0);
    const session = await context.call("session", { params: { id } }).catch(async (error: unknown) => {
      throw await sessionFailure(context, "attach to", id, error);
    });
    if (session.kind === "chat") {
      const { chat } = await import("../../chat/chat.ts");
      return chat(context, session);
    }
    return openTerminal(context, session);
  },
};

async function openTerminal(context: Context, session: SessionJson): Promise<number> {
  const [program, ...args] = session.attach === null ? [] : splitCommand(session.attach);
  if (program === undefined || session.processes.length === 0) {
    throw new HoldfastError("conflict", `Session ${session.id} is not running (${session.status}).`, {
      hint: `Restore it: holdfast session restore ${session.id}`,
    });
  }
  if (!context.isTerminal(0) || !context.isTerminal(1)) {
    throw new HoldfastError("usage", "attach requires a terminal.", {
      hint: `In a terminal: holdfast attach ${session.id}`,
    });
  }
  // The agent's screen covers this line until the user detaches.
  const twice = (context.env["TMUX"] ?? "") === "" ? "" : " Inside your own tmux, press Ctrl-B twice, then d.";
  context.out(`Attaching to ${session.id}. Detach with Ctrl-B, then d; the agent keeps running.${twice}`);
  const { spawn } = await import("node:child_process");
  // Inside the user's own tmux: ours is another server, so its guard against nesting does not apply; and its socket is
  // where the daemon put it, regardless of the user's TMUX_TMPDIR.
  const { TMUX: _tmux, TMUX_PANE: _pane, TMUX_TMPDIR: _directory, ...env } = context.env;
  // Also shown on the screen, for a few seconds or until a key is pressed.
  const hint = [";", "display-message", "-d", "4000", `Detach with Ctrl-B, then d.${twice}`];
  const child = spawn(program, [...args, ...hint], { stdio: "inherit", env });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

/** A piece of a word: an escaped letter, a quoted text, or a plain letter. */
const piece = /\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"|[^ '"\\]/s;
const wordPattern = new RegExp(`(?:${piece.source})+`, "gs");

/** Splits a pasteable command into argv, so that no shell has to run it. Supports quotes and backslashes, no expansion. */
export function splitCommand(text: string): string[] {
  if (text.replaceAll(wordPattern, "").trim() !== "") throw new Error(`unclosed quote in ${text}`);
  return (text.match(wordPattern) ?? []).map((word) =>
    word.replace(
      new RegExp(piece, "gs"),
      (plain, escaped?: string, single?: string, double?: string) =>
        escaped ?? single ?? double?.replace(/\\(["\\$`])/g, "$1") ?? plain,
    ),
  );
}
