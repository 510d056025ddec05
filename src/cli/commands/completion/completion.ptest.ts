/** Completion in real shells, with candidates that an attacker named: TAB and Enter run nothing but the command. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { findProgram } from "../../../base/find-program.ts";
import { until } from "../../../../test/harness/until.ts";
import { completionScript, type Shell } from "./completion.ts";

const directory = mkdtempSync(join(tmpdir(), "hf-completion-"));
const socket = `hf-completion-${process.pid}`;
const canary = join(directory, "canary");
const given = join(directory, "given");
const candidate = join(directory, "candidate");
writeFileSync(
  join(directory, "holdfast"),
  `#!/bin/sh\nif [ "$1" = complete ]; then cat ${candidate}; else printf '%s\\0' "$@" > ${given}.new; mv ${given}.new ${given}; fi\n`,
);
chmodSync(join(directory, "holdfast"), 0o755);
const tmux = (...args: string[]): string =>
  execFileSync("tmux", ["-f", "/dev/null", "-L", socket, ...args], {
    encoding: "utf8",
    env: {
      PATH: `${directory}:${process.env["PATH"]}`,
      TMUX_TMPDIR: directory,
      HOME: directory,
      TERM: "xterm-256color",
      LC_ALL: "C.UTF-8",
    },
  });
afterAll(() => {
  try {
    tmux("kill-server");
  } catch {
    // It ended with its last session.
  }
  // A shell that ends may still write its history.
  rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
});

const commands: Record<Shell, string[]> = {
  bash: ["bash", "--norc", "--noprofile"],
  zsh: ["zsh", "-f"],
  fish: ["fish", "--no-config"],
};
/** Each shell's own way to say that it reads a line. */
const ready: Record<Shell, string> = {
  bash: "PS1='ready> '",
  zsh: "PS1='ready> '",
  fish: "function fish_prompt; echo 'ready> '; end",
};
const hostile = [
  "q$(touch${IFS}CANARY)",
  "q`touch${IFS}CANARY`",
  "q;touch CANARY;",
  "q|touch CANARY",
  "q'a b'&touch CANARY",
  'q"$(touch CANARY)" (x) {y}',
];

for (const shell of ["bash", "zsh", "fish"] as const) {
  const installed = findProgram(shell, process.env["PATH"] ?? "") !== null;
  test.skipIf(!installed)(`[TEXT-6] ${shell} inserts a hostile candidate as one word`, async () => {
    const script = join(directory, `script.${shell}`);
    writeFileSync(script, completionScript(shell));
    tmux("new-session", "-d", "-s", shell, "-x", "200", "-y", "40", "-c", directory, ...commands[shell]);
    const type = (...keys: string[]): string => tmux("send-keys", "-t", `=${shell}:`, ...keys);
    const screen = (): string => tmux("capture-pane", "-p", "-t", `=${shell}:`);
    const lastLine = (): string => screen().trimEnd().split("\n").at(-1)!;
    type(`${ready[shell]}; source ${script}; clear`, "Enter");
    await until(`${shell} to read a line`, () =>
      lastLine().trimEnd() === "ready>" ? true : Promise.reject(new Error(screen())),
    );
    for (const word of hostile.map((text) => text.replaceAll("CANARY", canary))) {
      writeFileSync(candidate, `${word}\tone of ours\n`);
      rmSync(given, { force: true });
      type("holdfast acp approve ma-1 ");
      await until("the line", () => lastLine().includes("approve ma-1"));
      type("Tab");
      await until(`${shell} to complete ${word}`, () =>
        /ma-1 .*q/.test(screen().replaceAll("\n", "")) ? true : Promise.reject(new Error(screen())),
      );
      type("Enter");
      await until("the command", () => existsSync(given));
      const [, , , argument] = readFileSync(given, "utf8").split("\0");
      expect(argument).toBe(word);
      expect(existsSync(canary)).toBe(false);
      type("clear", "Enter");
      await until("an empty screen", () => screen().trim() === "ready>");
    }
  });
}
