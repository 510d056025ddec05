import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { WorktreePlan } from "../../ports/worktree.ts";
import { excludePatterns } from "./provision.ts";
import { createPoints } from "../points.fixture.ts";
import { commit, dieAt, makeWorld, manifest, put, sh, type World } from "../worktree.fixture.ts";

let world: World;
afterEach(() => world.remove());

const quiet = (): void => undefined;
const clean = (path: string): string => sh(path, "status", "--porcelain", "--untracked-files=all");

describe("the base", () => {
  test("[WORKTREE-3] the freshest of the local and the remote default branch", async () => {
    world = makeWorld();
    const { repository, workspaces, plan } = world;
    const old = sh(repository, "rev-parse", "HEAD").trim();
    const remote = commit(repository, { "file.txt": "remote\n" });
    sh(repository, "update-ref", "refs/remotes/origin/main", remote);
    sh(repository, "reset", "--quiet", "--hard", old);
    expect(await workspaces.create(plan("ab-1"), quiet)).toEqual({
      path: plan("ab-1").path,
      branch: "ab-1",
      branchCreated: true,
      base: remote,
    });
    expect(clean(plan("ab-1").path)).toBe("");

    sh(repository, "reset", "--quiet", "--hard", remote);
    const local = commit(repository, { "file.txt": "local\n" });
    expect(await workspaces.create(plan("ab-2"), quiet)).toMatchObject({ base: local });
    expect(await workspaces.create(plan("ab-3", { base: old }), quiet)).toMatchObject({ base: old });
    await expect(workspaces.create(plan("ab-4", { base: "--output=x" }), quiet)).rejects.toThrow("does not exist");
    expect(existsSync(plan("ab-4").path)).toBe(false);
  });

  test("[WORKTREE-4] an existing branch is used as it is; one that is checked out names the worktree", async () => {
    world = makeWorld();
    const { repository, workspaces, plan } = world;
    sh(repository, "branch", "topic");
    const tip = sh(repository, "rev-parse", "topic").trim();
    const first = plan("ab-1", { branch: "topic" });
    expect(await workspaces.create(first, quiet)).toMatchObject({ branch: "topic", branchCreated: false, base: tip });
    const second = plan("ab-2", { branch: "topic" });
    const why = `Branch topic is checked out in ${first.path}.`;
    await expect(workspaces.create(second, quiet)).rejects.toThrow(why);
    expect(await workspaces.preflight(second)).toEqual([expect.stringContaining(why)]);
    await expect(workspaces.create(plan("ab-3", { branch: "main" }), quiet)).rejects.toThrow(repository);
    await workspaces.undo(first);
    expect(existsSync(first.path)).toBe(false);
    expect(sh(repository, "rev-parse", "topic").trim()).toBe(tip);

    // Nor is a branch deleted that another session made, even one without a commit of its own.
    const maker = plan("ab-5");
    await workspaces.create(maker, quiet);
    await workspaces.trash(maker);
    const user = plan("ab-6", { branch: maker.branch });
    expect(await workspaces.create(user, quiet)).toMatchObject({ branchCreated: false });
    await workspaces.undo(user);
    expect(sh(repository, "rev-parse", maker.branch).trim()).toBe(tip);
  });

  test("[WORKTREE-4] what comes between preflight and create is seen", async () => {
    world = makeWorld();
    const { repository, workspaces, plan } = world;
    const used = plan("ab-1", { branch: "topic" });
    expect(await workspaces.preflight(used)).toEqual([]);
    const newer = commit(repository, { "file.txt": "newer\n" });
    sh(repository, "branch", "topic", newer);
    expect(await workspaces.create(used, quiet)).toMatchObject({ branchCreated: false, base: newer });
    const held = plan("ab-2", { branch: "held" });
    expect(await workspaces.preflight(held)).toEqual([]);
    sh(repository, "worktree", "add", "--quiet", "-b", "held", join(world.dir, "elsewhere"));
    await expect(workspaces.create(held, quiet)).rejects.toThrow(join(world.dir, "elsewhere"));
  });

  test("[WORKTREE-15] a worktree is registered by the very files that git writes, and by git where its format is extended", async () => {
    world = makeWorld();
    const { repository, workspaces, plan } = world;
    const admin = (name: string): string => join(repository, ".git/worktrees", name);
    const files = (name: string, path: string): Record<string, string> =>
      Object.fromEntries(
        [...["HEAD", "commondir", "gitdir"].map((file) => join(admin(name), file)), join(path, ".git")].map((file) => [
          file.replaceAll(name, "NAME"),
          readFileSync(file, "utf8").replaceAll(name, "NAME"),
        ]),
      );
    const ours = plan("ab-1");
    await workspaces.create(ours, quiet);
    const theirs = plan("ab-2").path;
    sh(repository, "worktree", "add", "--quiet", "-b", "ab-2", theirs);
    expect(files("ab-1", ours.path)).toEqual(files("ab-2", theirs));
    const kept = readdirSync(admin("ab-1")).filter((name) => name !== "holdfast.json");
    expect(kept.sort()).toEqual(readdirSync(admin("ab-2")).sort());

    sh(repository, "sparse-checkout", "set", "--no-cone", "/file.txt");
    const sparse = plan("ab-3");
    await workspaces.create(sparse, quiet);
    expect(readdirSync(sparse.path).sort()).toEqual([".git", "file.txt"]);
  });

  test("[WORKTREE-7] a bare repository and one without a commit", async () => {
    world = makeWorld();
    const bare = join(world.dir, "bare.git");
    sh(world.dir, "clone", "--quiet", "--bare", world.repository, bare);
    const inBare = world.plan("ab-1", { repository: bare });
    await world.workspaces.create(inBare, quiet);
    expect(readFileSync(join(inBare.path, "file.txt"), "utf8")).toBe("one\n");
    // HEAD of a bare repository holds nothing: its own branch can be had.
    const main = world.plan("ab-2", { repository: bare, branch: "main" });
    expect(await world.workspaces.create(main, quiet)).toMatchObject({ branchCreated: false });
    world.remove();

    world = makeWorld({ commits: false });
    const unborn = world.plan("ab-1");
    expect(await world.workspaces.create(unborn, quiet)).toMatchObject({ base: "ab-1", branchCreated: true });
    expect(world.workspaces.liveBranch(unborn.path)).toBe("ab-1");
    commit(unborn.path, { "first.txt": "first\n" });
    expect(sh(unborn.path, "log", "--format=%s").trim()).toBe("work");
  });

  test("[WORKTREE-22] a worktree inside the repository is refused", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1", { path: join(world.repository, "inside") });
    await expect(world.workspaces.create(plan, quiet)).rejects.toThrow("inside the repository");
    expect(await world.workspaces.preflight(plan)).toEqual([expect.stringContaining("inside the repository")]);
  });
});

describe("what a fresh worktree gets", () => {
  test("[WORKTREE-21][WORKTREE-8] links, copies and .worktreeinclude, and it is not dirty", async () => {
    world = makeWorld();
    const { repository, workspaces } = world;
    commit(repository, { ".worktreeinclude": "*.ignored\nlocal.txt\n" });
    put(repository, { "a/b.ignored": "ignored\n", "local.txt": "untracked, not ignored\n" });
    put(repository, { "node_modules/x.js": "x\n", "conf/one": "1\n" });
    writeFileSync(join(repository, ".env"), "SECRET=1\n", { mode: 0o600 });
    symlinkSync(world.dir, join(repository, "out"));
    sh(repository, "add", "out");
    sh(repository, "commit", "--quiet", "-m", "a link that leads out");
    put(world.dir, { "outside.txt": "not to be touched\n" });
    const said: string[] = [];
    const plan = world.plan("ab-1", {
      symlinks: ["node_modules", "missing"],
      copy: [".env", "conf", "out/outside.txt", "out/new.txt"],
    });
    put(world.dir, { "new.txt": "source\n" });
    await workspaces.create(plan, (text) => said.push(text));
    const at = (name: string): string => join(plan.path, name);
    expect(readlinkSync(at("node_modules"))).toBe(join(repository, "node_modules"));
    expect(lstatSync(at(".env")).mode & 0o777).toBe(0o600);
    expect(readFileSync(at("conf/one"), "utf8")).toBe("1\n");
    expect(readFileSync(at("a/b.ignored"), "utf8")).toBe("ignored\n");
    expect(existsSync(at("local.txt"))).toBe(false);
    expect(said.join("")).toContain("missing is not in");
    expect(clean(plan.path)).toBe("");
    await expect(workspaces.create(world.plan("ab-2", { copy: ["../x"] }), quiet)).rejects.toThrow("not a path inside");
  });

  test("[WORKTREE-21] exclude patterns are added once and keep the user's own lines", () => {
    world = makeWorld();
    const file = join(world.repository, ".git/info/exclude");
    writeFileSync(file, "mine");
    excludePatterns(join(world.repository, ".git"), ["/.agent", "/.agent", "mine"]);
    excludePatterns(join(world.repository, ".git"), ["/.agent"]);
    expect(readFileSync(file, "utf8")).toBe("mine\n/.agent\n");
  });

  test("[WORKTREE-9] postCreate shows its output; a failure names its last lines and leaves nothing", async () => {
    world = makeWorld();
    const { workspaces } = world;
    const said: string[] = [];
    const env = { GREETING: "hello" };
    const good = world.plan("ab-1", { env, postCreate: ["printenv GREETING", `touch "a b.ignored"`] });
    await workspaces.create(good, (text) => said.push(text));
    expect(said.join("")).toBe(`$ printenv GREETING\nhello\n$ touch "a b.ignored"\n`);
    expect(existsSync(join(good.path, "a b.ignored"))).toBe(true);

    const bad = world.plan("ab-2", { postCreate: ["sh -c 'echo it broke; exit 3'"] });
    await expect(workspaces.create(bad, quiet)).rejects.toThrow(/failed: exit code 3\.\nit broke$/);
    expect(existsSync(bad.path)).toBe(false);
    expect(sh(world.repository, "branch", "--list", "ab-2")).toBe("");
    expect(await workspaces.listTrash()).toEqual([]);

    // What a failed command left behind might be wanted: it is in the trash, not gone.
    const messy = world.plan("ab-3", { postCreate: ["touch made.txt", "false"] });
    await expect(workspaces.create(messy, quiet)).rejects.toThrow("exit code 1");
    expect(await workspaces.listTrash()).toMatchObject([{ session: "ab-3", uncommitted: 1 }]);
    expect(await workspaces.preflight(world.plan("ab-4", { postCreate: ["a && b"] }))).toEqual([
      expect.stringContaining('"&" needs a shell'),
    ]);
  });

  test("[WORKTREE-10] submodules come from the local clone without the network; without one there is a notice", async () => {
    world = makeWorld();
    const inner = join(world.dir, "inner");
    mkdirSync(inner);
    sh(inner, "init", "--quiet");
    commit(inner, { "inner.txt": "inner\n" });
    sh(world.repository, "submodule", "--quiet", "add", inner, "sub");
    commit(world.repository, {});
    sh(world.repository, "config", "submodule.sub.update", "!touch ran");
    rmSync(inner, { recursive: true });
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    expect(readFileSync(join(plan.path, "sub/inner.txt"), "utf8")).toBe("inner\n");
    expect(existsSync(join(plan.path, "sub/ran"))).toBe(false);
    expect(sh(join(plan.path, "sub"), "config", "remote.origin.url").trim()).toBe(inner);
    expect(clean(plan.path)).toBe("");

    rmSync(join(world.repository, ".git/modules"), { recursive: true });
    const said: string[] = [];
    await world.workspaces.create(world.plan("ab-2"), (text) => said.push(text));
    expect(said.join("")).toContain("Submodule sub has no local clone.");
  });
});

describe("a crash", () => {
  test("[SESSION-1][WORKTREE-11] create killed at every step is finished by the next call", async () => {
    world = makeWorld();
    put(world.repository, { "x.ignored": "copied\n" });
    commit(world.repository, Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`f${n}`, `${n}\n`])));
    const extra = { symlinks: ["node_modules"], copy: ["x.ignored"], postCreate: ["touch made.ignored"] };
    put(world.repository, { "node_modules/x": "x\n" });
    const reference = world.plan("ab-99", extra);
    await world.workspaces.create(reference, quiet);
    const expected = manifest(reference.path);
    delete expected[".git"];
    for (const [index, point] of createPoints.entries()) {
      const plan = world.plan(`ab-${index}`, extra);
      dieAt(world, point, "create", plan);
      const ready = await world.workspaces.create(plan, quiet);
      expect({ point, is: ready }).toMatchObject({ point, is: { branch: plan.branch, branchCreated: true } });
      const found = manifest(plan.path);
      delete found[".git"];
      expect({ point, is: found }).toEqual({ point, is: expected });
      expect({ point, is: clean(plan.path) }).toEqual({ point, is: "" });
      expect({ point, is: await world.workspaces.create(plan, quiet) }).toEqual({ point, is: ready });
    }
  });

  test("[SESSION-1][WORKTREE-12] create killed at every step and then undone leaves no branch, worktree or directory", async () => {
    world = makeWorld();
    const before = sh(world.repository, "for-each-ref");
    for (const [index, point] of createPoints.entries()) {
      const plan = world.plan(`ab-${index}`);
      dieAt(world, point, "create", plan);
      await world.workspaces.undo(plan);
      expect({ point, is: existsSync(plan.path) }).toEqual({ point, is: false });
      expect({ point, is: sh(world.repository, "for-each-ref") }).toEqual({ point, is: before });
      expect({ point, is: existsSync(join(world.repository, ".git/worktrees")) }).toEqual({ point, is: false });
      expect({ point, is: await world.workspaces.listTrash() }).toEqual({ point, is: [] });
      await world.workspaces.undo(plan);
    }
  });

  test("[WORKTREE-11] what a cut-off git leaves behind is finished: half registered, half checked out, a lone pointer", async () => {
    world = makeWorld();
    const cases: ((plan: WorktreePlan, admin: string) => void)[] = [
      // `worktree add` had registered it, and the checkout died half-way with its lock in place.
      (plan, admin) => {
        for (const name of ["index", "holdfast.json"]) rmSync(join(admin, name));
        put(admin, { "index.lock": "" });
        put(plan.path, { "file.txt": "on" });
      },
      // Killed behind the rename of a registration of ours: locked, and nothing at the path.
      (plan, admin) => {
        rmSync(plan.path, { recursive: true });
        for (const name of ["index", "holdfast.json", "logs", "ORIG_HEAD"])
          rmSync(join(admin, name), { recursive: true, force: true });
        put(admin, { locked: "initializing" });
      },
      // Killed before that rename.
      (plan, admin) => {
        rmSync(plan.path, { recursive: true });
        rmSync(admin, { recursive: true });
        put(
          join(
            world.repository,
            ".git",
            `holdfast-${createHash("sha256").update(plan.path).digest("hex").slice(0, 16)}`,
          ),
          {
            locked: "initializing",
          },
        );
      },
      // Killed before HEAD was written.
      (plan, admin) => {
        for (const name of ["index", "holdfast.json", "HEAD", "commondir"]) rmSync(join(admin, name));
        put(admin, { locked: "initializing" });
        for (const name of ["file.txt", ".gitignore"]) rmSync(join(plan.path, name));
      },
      // Registered, but the directory was never made.
      (plan, admin) => {
        for (const name of ["index", "holdfast.json"]) rmSync(join(admin, name));
        put(admin, { locked: "initializing" });
        rmSync(plan.path, { recursive: true });
      },
      // The pointer is there, what it points to is not.
      (plan, admin) => {
        rmSync(admin, { recursive: true });
        for (const name of ["file.txt", ".gitignore"]) rmSync(join(plan.path, name));
      },
    ];
    for (const [index, damage] of cases.entries()) {
      const plan = world.plan(`ab-${index}`);
      await world.workspaces.create(plan, quiet);
      damage(plan, join(world.repository, ".git/worktrees", plan.session));
      expect({ index, is: await world.workspaces.create(plan, quiet) }).toMatchObject({
        index,
        is: { branchCreated: true },
      });
      expect({ index, is: clean(plan.path) }).toEqual({ index, is: "" });
      expect({ index, is: readFileSync(join(plan.path, "file.txt"), "utf8") }).toEqual({ index, is: "one\n" });
      expect(sh(world.repository, "worktree", "list")).not.toContain("locked");
      expect(readdirSync(join(world.repository, ".git")).filter((name) => name.startsWith("holdfast-"))).toEqual([]);
    }
  });

  test("[SESSION-41] a directory with content that is no worktree is never replaced", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    put(plan.path, { "work.txt": "mine\n" });
    await expect(world.workspaces.create(plan, quiet)).rejects.toThrow("cannot be used");
    await world.workspaces.undo(plan);
    expect(readdirSync(plan.path)).toEqual(["work.txt"]);
  });

  test("[SESSION-41] undo never deletes work or a branch with commits", async () => {
    world = makeWorld();
    const plan = world.plan("ab-1");
    await world.workspaces.create(plan, quiet);
    const head = commit(plan.path, { "done.txt": "done\n" });
    put(plan.path, { "x.ignored": "even ignored files\n" });
    await world.workspaces.undo(plan);
    expect(sh(world.repository, "rev-parse", "ab-1").trim()).toBe(head);
    const [entry] = await world.workspaces.listTrash();
    expect(existsSync(join(world.trash, entry!.id, "tree/x.ignored"))).toBe(true);
  });
});

test("[WORKTREE-13] the live branch is read from HEAD; detached gives a commit, missing gives null", async () => {
  world = makeWorld();
  const plan = world.plan("ab-1");
  await world.workspaces.create(plan, quiet);
  const { workspaces } = world;
  const liveBranch = (path: string): string | null => workspaces.liveBranch(path);
  expect(liveBranch(plan.path)).toBe("ab-1");
  sh(plan.path, "switch", "--quiet", "-c", "feature/x");
  expect(liveBranch(plan.path)).toBe("feature/x");
  sh(plan.path, "switch", "--quiet", "--detach");
  expect(sh(plan.path, "rev-parse", "HEAD")).toContain(liveBranch(plan.path)!);
  expect(liveBranch(world.repository)).toBe("main");
  expect(liveBranch(join(world.dir, "nothing"))).toBeNull();
  expect([workspaces.exists(plan.path), workspaces.exists(join(world.dir, "nothing"))]).toEqual([true, false]);
});

test("[WORKTREE-14] unpushed: commits that no other branch, tag or remote reaches", async () => {
  world = makeWorld();
  const plan = world.plan("ab-1");
  await world.workspaces.create(plan, quiet);
  commit(plan.path, { "1.txt": "1\n" }, "pushed");
  sh(plan.path, "update-ref", "refs/remotes/origin/ab-1", "HEAD");
  commit(plan.path, { "2.txt": "2\n" }, "also on another branch");
  sh(plan.path, "branch", "other");
  commit(plan.path, { "3.txt": "3\n" }, "only\u001b[31m here");
  put(plan.path, { "4.txt": "4\n", "x.ignored": "x\n" });
  const work = await world.workspaces.inspect(plan.path);
  expect(work.uncommitted).toBe(1);
  expect(work.unpushed).toEqual([expect.stringMatching(/^[0-9a-f]{7,} only \[31m here$/)]);
});
