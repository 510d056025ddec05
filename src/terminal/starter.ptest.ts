import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { runFileText, starterText } from "./launch-files.ts";

test("[TERMINAL-11] sh reads every value of the run file byte for byte", () => {
  const argv = [
    "printf",
    "%s\\0",
    "it's",
    "$(touch x)",
    "`id`",
    "two\nlines\n",
    "\\",
    "",
    "größe 日本",
    "-n",
    '"',
    "*",
  ];
  const text = runFileText({
    workspace: "/a b'c",
    umask: "0027",
    cgroup: "/a b'c/cgroup.procs",
    env: { ODD: "a'b\n$HOME\n", "NOT-A-NAME": "x", UID: "7" },
    argv,
  });
  const ran = spawnSync("/bin/sh", ["-c", `${text}"$@"; printf '%s\\0' "$ODD" "$holdfast_workspace"`], {
    encoding: "utf8",
  });
  expect(ran.stderr).toBe("");
  expect(ran.stdout.split("\0").slice(0, -1)).toEqual([...argv.slice(2), "a'b\n$HOME\n", "/a b'c"]);
});

test("[TERMINAL-22] the starter is clean by shellcheck", () => {
  const ran = spawnSync("shellcheck", ["-s", "sh", "-"], { input: starterText, encoding: "utf8" });
  expect(ran.stdout).toBe("");
  expect(ran.status).toBe(0);
});
