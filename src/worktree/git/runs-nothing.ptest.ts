import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { TrashEntry, WorktreePlan } from "../../ports/worktree.ts";
import { setTrap, type Trap } from "./hostile.fixture.ts";
import { commit, makeWorld, put, sh, type World } from "../worktree.fixture.ts";

let world: World;
afterEach(() => world.remove());

const quiet = (): void => undefined;
const against = { base: "", defaultBranch: "main" };
const admin = ({ session }: WorktreePlan): string => join(world.repository, ".git/worktrees", session);

/** A repository with a submodule, attributes that name every driver, and a file for each of them. */
function makeRepository(): Trap {
  world = makeWorld();
  const inner = join(world.dir, "inner");
  mkdirSync(inner);
  sh(inner, "init", "--quiet", "--initial-branch=main");
  commit(inner, { "inner.txt": "inner\n", ".gitattributes": "* filter=evil diff=evil\n" });
  const attributes = "*.txt filter=evil diff=evil merge=evil\n*.two filter=both\n*.three filter=a=b\n";
  commit(world.repository, { ".gitattributes": attributes, "a.txt": "a\n", "b.two": "b\n", "c.three": "c\n" });
  sh(world.repository, "submodule", "--quiet", "add", inner, "sub");
  commit(world.repository, {}, "submodule");
  return setTrap(world.dir);
}

/** Files that git must read to compare, in the worktree, its submodule and a repository that nobody registered. */
function disturb(path: string): void {
  put(path, { "a.txt": "A\n", "b.two": "B\n", "c.three": "C\n", "new.txt": "new\n" });
  if (existsSync(join(path, "sub/inner.txt"))) put(path, { "sub/inner.txt": "changed\n", "sub/new.txt": "new\n" });
  const other = join(path, "other");
  if (existsSync(other)) return;
  mkdirSync(other);
  sh(other, "init", "--quiet", "--initial-branch=main");
  commit(other, { "o.txt": "o\n", ".gitattributes": "* filter=evil diff=evil\n" });
  put(other, { "o.txt": "O\n" });
}

interface Life {
  planted: () => void;
  enter: () => () => void;
  seen: (operation: string) => void;
  /** The trap is in this worktree alone: other worktrees of the repository need not be made. */
  onlyHere: boolean;
}

/** Every operation of ours that runs git on a session, in the order of its life. */
async function live(plan: WorktreePlan, { planted, enter, seen, onlyHere }: Life): Promise<TrashEntry> {
  const { workspaces, repository } = world;
  const { path } = plan;
  const done = async <T>(operation: string, run: () => Promise<T>): Promise<T> => {
    const leave = enter();
    try {
      return await run();
    } finally {
      leave();
      seen(operation);
    }
  };
  await done("preflight", async () => await workspaces.preflight(plan));
  await done("free branch", async () => await workspaces.freeBranch(repository, "fresh"));
  await done("create", async () => await workspaces.create(plan, quiet));
  disturb(path);
  planted();
  await done("inspect", async () => expect((await workspaces.inspect(path)).uncommitted).toBeGreaterThan(3));
  const look = async (at: string): Promise<void> => {
    const { files } = await done("changes", async () => await workspaces.changes(at, against));
    expect(files.map((file) => file.path)).toEqual(expect.arrayContaining(["a.txt", "new.txt"]));
    const { patch } = await done("patch", async () => await workspaces.patch(at, against, null));
    expect(patch).toContain("+new");
    await done("files", async () => expect((await workspaces.files(at, "new", 5)).files).toContain("new.txt"));
  };
  await look(path);
  const question = { path, defaultBranch: "main", heads: [], mergeCommit: null };
  await done("landing", async () => await workspaces.mergeFacts(question));
  const head = sh(repository, "rev-parse", plan.branch).trim();
  await done("own commit", async () => await workspaces.isOwnCommit(path, head, head));
  await done("branch", async () => expect(workspaces.liveBranch(path)).toBe(plan.branch));
  await done("exclude", async () => await workspaces.exclude(path, ["/.agent"]));
  const first = await done("trash", async () => await workspaces.trash(plan));
  expect(first!.uncommitted).toBeGreaterThan(3);
  await done("list trash", async () => await workspaces.listTrash());
  await look((await workspaces.trashedAt(first!.id))!);
  await done("restore", async () => await workspaces.restore(first!.id));
  await done("put back", async () => {
    await workspaces.findReturned({ ...plan, branchCreated: true, base: head });
  });
  if (onlyHere) return first!;
  const second = await done("trash again", async () => await workspaces.trash(plan));
  await done("empty", async () => await workspaces.empty(second!.id));
  await done("spare", async () => await workspaces.prepareSpare(repository, "main", true));
  const next = world.plan(`${plan.session}9`);
  await done("create from a spare", async () => await workspaces.create(next, quiet));
  await done("undo", async () => await workspaces.undo(next));
  return first!;
}

interface Place {
  name: string;
  /** Before anything is made. */
  before?: (trap: Trap) => void;
  /** In the worktree, as its agent would. */
  inside?: (trap: Trap, plan: WorktreePlan) => void;
  everywhere?: true;
  /** What a person's own git does there: the trap is live. */
  alive: (trap: Trap, plan: WorktreePlan) => void;
}

const plantIn = (trap: Trap, gitDir: string): void => trap.plant(join(gitDir, "config"), join(gitDir, "hooks"));

/** A repository of the agent's own inside of its worktree, with the history of the real one. */
function evilRepository(trap: Trap, plan: WorktreePlan): string {
  const evil = join(plan.path, "x/g");
  mkdirSync(dirname(evil), { recursive: true });
  sh(world.dir, "clone", "--quiet", "--bare", world.repository, evil);
  sh(world.dir, "config", "--file", join(evil, "config"), "core.bare", "false");
  plantIn(trap, evil);
  return evil;
}

const status = (path: string): void => {
  try {
    sh(path, "-c", "status.submoduleSummary=false", "status");
  } catch {
    // Its answer does not matter.
  }
};

const places: readonly Place[] = [
  {
    name: "the repository's configuration",
    everywhere: true,
    before: (trap) => plantIn(trap, join(world.repository, ".git")),
    alive: () => status(world.repository),
  },
  {
    name: "the worktree's own configuration",
    before: () => sh(world.repository, "config", "extensions.worktreeConfig", "true"),
    inside: (trap, plan) => trap.plant(join(admin(plan), "config.worktree"), join(admin(plan), "evil-hooks")),
    alive: (_, { path }) => status(path),
  },
  {
    name: "a rewritten .git",
    inside: (trap, plan) => writeFileSync(join(plan.path, ".git"), `gitdir: ${evilRepository(trap, plan)}\n`),
    alive: (_, { path }) => status(path),
  },
  {
    name: "a .git that became a directory",
    inside: (trap, plan) => {
      rmSync(join(plan.path, ".git"));
      sh(plan.path, "init", "--quiet");
      plantIn(trap, join(plan.path, ".git"));
    },
    alive: (_, { path }) => status(path),
  },
  {
    name: "a .git that became a link",
    inside: (trap, plan) => {
      rmSync(join(plan.path, ".git"));
      symlinkSync(evilRepository(trap, plan), join(plan.path, ".git"));
    },
    alive: (_, { path }) => status(path),
  },
  {
    name: "a rewritten commondir",
    inside: (trap, plan) => writeFileSync(join(admin(plan), "commondir"), `${evilRepository(trap, plan)}\n`),
    alive: (_, { path }) => status(path),
  },
  {
    name: "nested repositories",
    inside: (trap, { path }) => {
      plantIn(trap, sh(join(path, "sub"), "rev-parse", "--absolute-git-dir").trim());
      plantIn(trap, join(path, "other/.git"));
    },
    alive: (_, { path }) => status(path),
  },
  {
    name: "the environment",
    everywhere: true,
    inside: (trap, { path }) => {
      for (const name of ["git", "false", "ssh", "git-lfs", "cat"]) {
        writeFileSync(join(path, name), readFileSync(trap.program(`path-${name}`)), { mode: 0o755 });
      }
    },
    alive: (_, { path }) => {
      try {
        execFileSync("git", ["status"], { cwd: path, stdio: "ignore" });
      } catch {
        // Its answer does not matter.
      }
    },
  },
];

test("[GIT-1][GIT-3][GIT-6] whatever a repository names, wherever it names it, no operation runs it", async () => {
  let combinations = 0;
  const ran: string[] = [];
  for (const [at, place] of places.entries()) {
    const trap = makeRepository();
    place.before?.(trap);
    const plan = world.plan(`ab-${at}`);
    const enter = place.name === "the environment" ? trap.inEnvironment : () => quiet;
    await live(plan, {
      enter,
      onlyHere: place.everywhere !== true,
      planted: () => {
        place.inside?.(trap, plan);
        trap.forget();
      },
      seen: (operation) => {
        combinations += trap.names.length;
        ran.push(...trap.ran().map((name) => `${name} in ${place.name}, ${operation}`));
        trap.forget();
      },
    });
    // The trap is live: the same files in a person's own hands do run it.
    const again = world.plan(`cd-${at}`);
    await world.workspaces.create(again, quiet);
    disturb(again.path);
    place.inside?.(trap, again);
    trap.forget();
    const leave = enter();
    place.alive(trap, again);
    leave();
    expect(trap.ran(), place.name).not.toEqual([]);
    world.remove();
  }
  console.log(`${combinations} combinations, ${ran.length} ran`);
  expect(ran).toEqual([]);
}, 300_000);
