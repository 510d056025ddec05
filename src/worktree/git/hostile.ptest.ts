import { chmodSync, existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { commit, makeWorld, put, sh, type World } from "../worktree.fixture.ts";

let world: World;
afterEach(() => world.remove());

const quiet = (): void => undefined;
const hooks = ["post-checkout", "post-commit", "reference-transaction", "post-index-change", "pre-auto-gc"];

/** Everything a repository can name to have a program started; each leaves a file in `ran`. */
function makeHostile(): { ran: string[]; directory: string } {
  world = makeWorld();
  const directory = join(world.dir, "ran");
  put(directory, { ".keep": "" });
  const { repository } = world;
  commit(repository, { ".gitattributes": "* filter=evil diff=evil\n", "a.txt": "a\n", "b.txt": "b\n" });
  sh(repository, "branch", "other");
  const program = (name: string): string => {
    const file = join(world.dir, `evil-${name}`);
    put(world.dir, { [`evil-${name}`]: `#!/bin/sh\ntouch '${directory}/${name}'\ncat\n` });
    chmodSync(file, 0o755);
    return file;
  };
  const set = (key: string, value: string): string => sh(repository, "config", key, value);
  for (const hook of hooks) {
    put(join(repository, ".git/hooks"), { [hook]: `#!/bin/sh\ntouch '${directory}/${hook}'\n` });
    chmodSync(join(repository, ".git/hooks", hook), 0o755);
  }
  set("core.fsmonitor", program("fsmonitor"));
  set("filter.evil.clean", program("clean"));
  set("filter.evil.smudge", program("smudge"));
  set("filter.evil.required", "true");
  set("filter.a=b.process", program("process"));
  set("diff.evil.textconv", program("textconv"));
  set("diff.external", program("external"));
  set("core.pager", program("pager"));
  set("core.editor", program("editor"));
  set("gpg.program", program("gpg"));
  set("commit.gpgSign", "true");
  set("log.showSignature", "true");
  set("core.sshCommand", program("ssh"));
  set("credential.helper", `!${program("credential")}`);
  set("remote.origin.url", `ext::${program("ext")}`);
  return { ran: [], directory };
}

test("[GIT-1] a hostile repository runs nothing through create, inspect, spare, trash, restore, empty and undo", async () => {
  const { directory } = makeHostile();
  const { workspaces, plan, repository } = world;
  const ran = (): string[] => readdirSync(directory).filter((name) => name !== ".keep");
  const said: string[] = [];
  const first = plan("ab-1");
  await workspaces.preflight(first);
  await workspaces.create(first, (text) => said.push(text));
  expect(said.join("")).toContain("Filter evil of the repository's own configuration does not run.");
  expect(readFileSync(join(first.path, "a.txt"), "utf8")).toBe("a\n");
  put(first.path, { "a.txt": "changed\n", "new.txt": "new\n" });
  await workspaces.inspect(first.path);
  const entry = await workspaces.trash(first);
  // With every filter off, an untouched file is not taken for a changed one.
  expect(entry).toMatchObject({ uncommitted: 2 });
  await workspaces.restore(entry!.id);
  const again = await workspaces.trash(first);
  await workspaces.empty(again!.id);
  await workspaces.prepareSpare(repository, "main", true);
  await workspaces.create(plan("ab-2"), quiet);
  await workspaces.undo(plan("ab-2"));
  await workspaces.create(plan("ab-3", { branch: "other" }), quiet);
  expect(ran()).toEqual([]);

  // The traps are live: the same repository in a person's own hands does run them.
  put(first.path, { x: "" });
  put(repository, { "a.txt": "touched\n" });
  sh(repository, "status");
  expect(existsSync(join(directory, "fsmonitor"))).toBe(true);
});
