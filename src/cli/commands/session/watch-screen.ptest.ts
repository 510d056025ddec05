import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../../../test/harness/until.ts";
import { EventLog, sessionOf, standIn } from "../../test-support/stand-in.ts";

test("[CLI-27] status --watch fits the terminal, follows its size, and leaves it as it was", async () => {
  const many = Array.from({ length: 61 }, (_, at) =>
    sessionOf({
      id: `ma-${at + 1}`,
      status: "idle",
      title: "a title that is far too long for any terminal ".repeat(4),
    }),
  );
  const sessions = [...many, sessionOf({ id: "ma-99", status: "needs_input", reason: "It asks something" })];
  const log = new EventLog();
  const daemon = await standIn({ "GET /api/sessions": { answer: sessions }, "GET /api/events": { answer: log } });
  const name = `hf-watch-${process.pid}`;
  const { TMUX: _outer, TMUX_TMPDIR: _directory, ...env } = process.env;
  const tmux = (...args: string[]): string =>
    execFileSync("tmux", ["-f", "/dev/null", "-L", name, ...args], {
      encoding: "utf8",
      env: { ...env, HOLDFAST_HOME: daemon.home, TERM: "xterm-256color" },
    });
  const screen = (): string[] => tmux("capture-pane", "-p", "-t", "=w:").trimEnd().split("\n");
  const flags = (): string => tmux("display-message", "-p", "-t", "=w:", "#{alternate_on} #{cursor_flag}").trim();
  try {
    tmux("new-session", "-d", "-s", "w", "-x", "80", "-y", "24", "sh");
    tmux("set-option", "-g", "window-size", "manual");
    const entry = join(import.meta.dirname, "../../entry.ts");
    tmux("send-keys", "-t", "=w:", `'${process.execPath}' '${entry}' status --watch`, "Enter");
    await until("the list", () => screen()[0] === "Needs you (1)" && screen().at(-1)!.endsWith("more sessions"));
    await until("the hidden cursor", () => flags() === "1 0");
    expect(screen()[1]).toMatch(/^ {2}ma-99 {2}needs_input /);
    expect(screen().slice(2, 4)).toEqual(["    Asks: It asks something", "    Answer: holdfast attach ma-99"]);
    expect(screen().at(-1)).toMatch(/^… and \d+ more sessions$/);
    tmux("resize-window", "-t", "=w:", "-x", "40", "-y", "12");
    await until("the smaller list", () => {
      const lines = screen();
      return lines.length === 12 && lines[0] === "Needs you (1)" && lines.at(-1)!.endsWith("more sessions");
    });
    expect(screen().every((line) => line.length <= 40)).toBe(true);
    sessions.pop();
    log.add({ type: "notice" });
    await until("the change", () => screen()[0] === "Idle (61)");
    tmux("send-keys", "-t", "=w:", "C-c");
    await until("the shell's own screen", () => flags() === "0 1");
    tmux("send-keys", "-t", "=w:", "echo code $?", "Enter");
    await until("the shell", () => {
      if (screen().some((line) => line.endsWith("code 130"))) return true;
      throw new Error(screen().join("\n"));
    });
    expect(screen().join("\n")).not.toContain("Idle (61)");
  } finally {
    tmux("kill-server");
    await daemon.close();
  }
});
