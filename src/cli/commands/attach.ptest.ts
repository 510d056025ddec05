import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../../test/harness/until.ts";
import { sessionOf, standIn } from "../test-support/stand-in.ts";

test("[CLI-18] [CLI-207] attach prints how to leave, and works inside the person's own tmux, with a TMUX_TMPDIR of their own", async () => {
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
    const cli = [process.execPath, join(import.meta.dirname, "../entry.ts"), "attach", "ma-1"];
    tmux(["-L", "theirs", "new-session", "-d", "-s", "outer", "-x", "80", "-y", "24", ...cli], outer);
    tmux(["-L", "theirs", "set-option", "-t", "=outer:", "remain-on-exit", "on"], outer);
    const clients = (): string => tmux(["-L", name, "list-clients", "-F", "#{client_session}"]).trim();
    const screen = (): string => tmux(["-L", "theirs", "capture-pane", "-p", "-t", "=outer:"], outer);
    // First, because it is shown for four seconds only.
    await until("the hint", () => {
      const shown = screen();
      if (shown.includes("Leave with Ctrl-B, then d. Inside your own tmux")) return true;
      throw new Error(shown);
    });
    expect(clients()).toBe("inner");
    tmux(["-L", name, "detach-client", "-s", "=inner"]);
    await until("the line below", () => screen().includes("Attaching to ma-1. Leave with Ctrl-B, then d;"));
  } finally {
    tmux(["-L", name, "kill-server"]);
    tmux(["-L", "theirs", "kill-server"], outer);
    rmSync(`/tmp/tmux-${process.getuid?.() ?? 0}/${name}`, { force: true });
    await daemon.close();
  }
});
