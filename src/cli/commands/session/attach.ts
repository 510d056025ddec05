import { HoldfastError } from "../../../contract/error.ts";
import type { SessionJson } from "../../../contract/wire.ts";
import type { Context } from "../../context.ts";
import { type CommandEntry, sessionArgument } from "../../command.ts";
import { splitCommand } from "../../chat/split-command.ts";
import { verbFailure } from "./verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  examples: [["open it in this terminal", "holdfast attach ma-12"]],
  notes:
    "A terminal session opens in tmux: leave with Ctrl-B, then d (inside your own tmux with the same prefix: Ctrl-B\ntwice, then d); the agent keeps running. A chat session shows its\ntranscript as it comes, and takes a prompt a line. When the agent asks for permission, one key answers. Ctrl-C\ncancels a running turn; twice, or Ctrl-D, leaves; the agent keeps running.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    let session: SessionJson;
    try {
      session = await context.call("session", { params: { id } });
    } catch (error) {
      throw await verbFailure(context, "attach to", id, error);
    }
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
      hint: `Bring it back: holdfast session restore ${session.id}`,
    });
  }
  if (!context.isTerminal(0) || !context.isTerminal(1)) {
    throw new HoldfastError("usage", "attach needs a terminal.", {
      hint: `In a terminal: holdfast attach ${session.id}`,
    });
  }
  // The agent's screen covers this line while attached; it is there again after leaving.
  const twice = (context.env["TMUX"] ?? "") === "" ? "" : " Inside your own tmux, press Ctrl-B twice, then d.";
  context.out(`Attaching to ${session.id}. Leave with Ctrl-B, then d; the agent keeps running.${twice}`);
  const { spawn } = await import("node:child_process");
  // Inside the person's own tmux: ours is another server, so its guard against nesting does not apply; and its socket lies
  // where the daemon put it, without the person's TMUX_TMPDIR.
  const { TMUX: _tmux, TMUX_PANE: _pane, TMUX_TMPDIR: _directory, ...env } = context.env;
  // And on the screen itself, for a few seconds or until a key is pressed.
  const hint = [";", "display-message", "-d", "4000", `Leave with Ctrl-B, then d.${twice}`];
  const child = spawn(program, [...args, ...hint], { stdio: "inherit", env });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}
