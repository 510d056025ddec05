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

/** Splits a pasteable command into argv, so that no shell has to run it. Supports quotes and backslashes, no expansion. */
export function splitCommand(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === " ") {
      if (word !== null) words.push(word);
      word = null;
    } else if (letter === "'") {
      const end = closing(text, at + 1, "'");
      word = (word ?? "") + text.slice(at + 1, end);
      at = end;
    } else if (letter === '"') {
      const end = closing(text, at + 1, '"');
      word = (word ?? "") + text.slice(at + 1, end).replace(/\\(["\\$`])/g, "$1");
      at = end;
    } else if (letter === "\\") {
      at++;
      word = (word ?? "") + (text[at] ?? "");
    } else {
      word = (word ?? "") + letter;
    }
  }
  if (word !== null) words.push(word);
  return words;
}

function closing(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at++) {
    if (quote === '"' && text[at] === "\\") at++;
    else if (text[at] === quote) return at;
  }
  throw new Error(`unclosed quote in ${text}`);
}
