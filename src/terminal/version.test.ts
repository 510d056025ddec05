import { expect, test } from "vitest";
import { judgeVersion } from "./tmux.ts";

test.each([
  ["tmux 3.3a", []],
  ["tmux 3.2", []],
  ["tmux next-3.7", []],
  ["tmux master", []],
  ["tmux 3.1c", ["tmux 3.1c is too old. Install tmux 3.2 or newer."]],
  ["tmux 2.9", ["tmux 2.9 is too old. Install tmux 3.2 or newer."]],
])("[TERMINAL-38] %s before a spawn: %j", (stdout, problems) => {
  expect(judgeVersion({ is: "ok", stdout })).toEqual(problems);
});

test("[TERMINAL-38] [TERMINAL-7] a tmux that does not run is reported with the reason and the fix", () => {
  const why = "tmux could not be started: the daemon has too many files open (EMFILE)";
  expect(judgeVersion({ is: "unknown", why })).toEqual([
    `tmux does not run (${why}). Check that it is installed, and try again.`,
  ]);
});
