import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { isRunning } from "../../../../test/harness/marked.ts";
import { until } from "../../../../test/harness/until.ts";
import { sessionOf, standIn } from "../../test-support/stand-in.ts";

test("[CLI-18] [CLI-32] attach prints how to detach, and works inside the user's own tmux with its own TMUX_TMPDIR", async () => {
  const name = `hf-attach-${process.pid}`;
  const session = sessionOf({
    id: "ma-1",
    attach: `tmux -L ${name} attach -t =inner`,
    processes: [{ pid: process.pid, startedAt: null, what: "agent" }],
  });
  const daemon = await standIn({ "GET /api/sessions/ma-1": { answer: session } });
  const own = join(daemon.home, "own");
  mkdirSync(own);
  const { TMUX: _outer, TMUX_TMPDIR: _directory, ...env } = process.env;
  const tmux = (args: string[], more = {}): string =>
    execFileSync("tmux", ["-f", "/dev/null", ...args], { encoding: "utf8", env: { ...env, ...more } });
  const outer = { TMUX_TMPDIR: own, HOLDFAST_HOME: daemon.home, TERM: "xterm-256color" };
  try {
    tmux(["-L", name, "new-session", "-d", "-s", "inner", "cat"]);
    const cli = [process.execPath, join(import.meta.dirname, "../../entry.ts"), "attach", "ma-1"];
    const begin = ["sh", "-c", 'read go; exec "$@"', "sh", ...cli];
    tmux(["-L", "theirs", "new-session", "-d", "-s", "outer", "-x", "80", "-y", "24", ...begin], outer);
    // All that it writes: the agent's screen covers the line while it is attached.
    const output = join(daemon.home, "output");
    tmux(["-L", "theirs", "pipe-pane", "-t", "=outer:", `cat > '${output}'`], outer);
    await until("the pipe", () => existsSync(output));
    tmux(["-L", "theirs", "send-keys", "-t", "=outer:", "Enter"], outer);
    const clients = (): string => tmux(["-L", name, "list-clients", "-F", "#{client_session}"]).trim();
    await until("the client", () => {
      if (clients() === "inner") return true;
      throw new Error(readFileSync(output, "utf8"));
    });
    // On the screen it stays for four seconds; tmux keeps it longer.
    const messages = (): string => tmux(["-L", name, "show-messages"]);
    await until("the hint", () => messages().includes("message: Detach with Ctrl-B, then d. Inside your own tmux"));
    const line = "Attaching to ma-1. Detach with Ctrl-B, then d;";
    await until(
      "the line",
      () => {
        const text = readFileSync(output, "utf8");
        if (text.includes(line)) return true;
        throw new Error(JSON.stringify(text.slice(0, 900)));
      },
      5000,
    );
  } finally {
    const started = [
      ...tmux(["-L", "theirs", "list-panes", "-a", "-F", "#{pid} #{pane_pid}"], outer).trim().split(/\s/),
      ...tmux(["-L", name, "list-panes", "-a", "-F", "#{pid} #{pane_pid}"]).trim().split(/\s/),
      ...tmux(["-L", name, "list-clients", "-F", "#{client_pid}"]).trim().split(/\s/),
    ];
    tmux(["-L", "theirs", "kill-server"], outer);
    tmux(["-L", name, "kill-server"]);
    await until("all of it to end", () => !started.some((pid) => pid !== "" && isRunning(Number(pid))));
    rmSync(`/tmp/tmux-${process.getuid?.() ?? 0}/${name}`, { force: true });
    await daemon.close();
  }
});
