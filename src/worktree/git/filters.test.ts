import { expect, test } from "vitest";
import { decideFilters, parseScoped } from "./filters.ts";

const setting = (scope: string, key: string, value: string): { scope: string; key: string; value: string } => ({
  scope,
  key,
  value,
});

test("[GIT-2] inspecting runs no filter; a checkout runs the user's own and those of well-known tools", () => {
  const decided = decideFilters([
    setting("global", "filter.mine.smudge", "my-program"),
    setting("local", "filter.lfs.process", "git-lfs filter-process"),
    setting("local", "filter.lfs.required", "true"),
    setting("local", "filter.evil.clean", "git-lfs clean -- %f; evil"),
  ]);
  expect(decided.leftOut).toEqual(["evil"]);
  expect(decided.checkout.map(([key]) => key).filter((key) => key.startsWith("filter."))).toEqual([
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "filter.evil.required",
  ]);
  const off = new Set(decided.none.map(([key]) => key.split(".")[1]));
  expect(off).toEqual(new Set(["mine", "lfs", "evil"]));
});

test("[GIT-2] a repository that gives git-lfs programs to start does not get git-lfs", () => {
  const decided = decideFilters([
    setting("global", "filter.lfs.process", "git-lfs filter-process"),
    setting("local", "lfs.customtransfer.evil.path", "evil"),
  ]);
  expect(decided.leftOut).toEqual(["lfs"]);
});

test("[GIT-4] a filter that downloads gets the user's ssh command and credential helpers, none of the repository's", () => {
  const decided = decideFilters([
    setting("global", "core.sshcommand", "my-ssh"),
    setting("global", "credential.helper", "mine"),
    setting("global", "credential.https://host.helper", "mine-for-host"),
    setting("local", "core.sshcommand", "evil"),
    setting("local", "credential.helper", "evil"),
    setting("worktree", "credential.https://host.helper", "evil"),
    setting("local", "hook.x.command", "evil"),
  ]);
  expect(decided.checkout).toEqual([
    ["hook.x.enabled", "false"],
    ["hook.x.event", ""],
    ["core.sshCommand", "my-ssh"],
    ["credential.helper", ""],
    ["credential.https://host.helper", ""],
    ["credential.helper", "mine"],
    ["credential.https://host.helper", "mine-for-host"],
  ]);
});

test("[GIT-2] scopes, values with newlines and keys without a value are read apart", () => {
  expect(parseScoped("local\0filter.a=b.clean\nx\ny\0global\0filter.c.required\0")).toEqual([
    setting("local", "filter.a=b.clean", "x\ny"),
    setting("global", "filter.c.required", ""),
  ]);
});
