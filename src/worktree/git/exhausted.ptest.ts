import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const fixture = fileURLToPath(new URL("exhausted.fixture.ts", import.meta.url));

test("[TERMINAL-7] with no descriptor left a program is tried again, then refused in words; nothing is thrown past the caller", () => {
  const printed = execFileSync("sh", ["-c", 'ulimit -n 60; exec "$0" "$1"', process.execPath, fixture], {
    encoding: "utf8",
  });
  expect(JSON.parse(printed)).toEqual({
    started: "spawn true EMFILE",
    git: "git cannot start: the daemon has too many files open (EMFILE).",
    command: "postCreate `true` failed: cannot start: the daemon has too many files open (EMFILE).",
    ran: null,
    later: 0,
  });
});
