import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { resolvePaths, type Paths } from "../../base/paths.ts";
import type { FindingJson } from "../../contract/daemon.ts";
import { sessionOf, standIn, type Script, type StandIn } from "../test-support/stand-in.ts";

let open: StandIn[] = [];
let servers: string[] = [];
beforeEach(() => {
  [open, servers] = [[], []];
});
afterEach(async () => {
  for (const name of servers) {
    execFileSync("tmux", ["-L", name, "kill-server"]);
    rmSync(`/tmp/tmux-${process.getuid?.() ?? 0}/${name}`, { force: true });
  }
  for (const each of open) await each.close();
});

async function home(
  script: Script | null,
): Promise<{ paths: Paths; leftovers: (...args: string[]) => Promise<FindingJson[]> }> {
  const made = await standIn(script);
  open.push(made);
  return {
    paths: resolvePaths({ HOLDFAST_HOME: made.home }),
    leftovers: async (...args) => {
      const ran = await made.run(["doctor", "--json", ...args]);
      return (JSON.parse(ran.out) as FindingJson[]).filter(({ check }) => check === "leftovers");
    },
  };
}

const answers = (ids: string[], paths: () => Paths): Script => ({
  "GET /api/doctor": { answer: [] },
  get "GET /api/sessions"() {
    const { worktrees } = paths();
    return {
      answer: ids.map((id) => sessionOf({ id, workspacePath: join(worktrees, "my-app", id), status: "killed" })),
    };
  },
});

function fill(paths: Paths): void {
  for (const id of ["ma-1", "ma-2"]) {
    mkdirSync(join(paths.worktrees, "my-app", id), { recursive: true });
    mkdirSync(join(paths.launches, id, "a-launch"), { recursive: true });
  }
  mkdirSync(join(paths.worktrees, ".spare", "x"), { recursive: true });
  const tmux = (...args: string[]): void =>
    void execFileSync("tmux", ["-L", paths.tmuxSocket, "-f", "/dev/null", ...args]);
  for (const id of ["ma-1", "ma-2"]) {
    tmux("new-session", "-d", "-s", `worker-${id}`, "cat");
    tmux("set-option", "-t", `=worker-${id}:`, "@holdfast-session", id);
  }
  tmux("new-session", "-d", "-s", "own", "cat");
  servers.push(paths.tmuxSocket);
}

test("[CLI-59] worktrees, launches and tmux sessions that belong to no session are named; those of ended ones are not", async () => {
  let found: Paths | undefined;
  const { paths, leftovers } = await home(answers(["ma-1"], () => found!));
  found = paths;
  expect(await leftovers()).toMatchObject([{ level: "ok" }]);
  fill(paths);
  const worktree = join(paths.worktrees, "my-app", "ma-2");
  expect((await leftovers()).map(({ level, message }) => [level, message])).toEqual([
    ["warn", `Orphaned worktree: ${worktree}`],
    ["warn", "Orphaned tmux session: worker-ma-2"],
    ["warn", `Orphaned agent files: ${join(paths.launches, "ma-2")}`],
  ]);
  // Nothing is mended while an agent may use it, and never a worktree.
  await leftovers("--fix");
  expect([existsSync(worktree), existsSync(join(paths.launches, "ma-2"))]).toEqual([true, true]);
  execFileSync("tmux", ["-L", paths.tmuxSocket, "kill-session", "-t", "=worker-ma-2"]);
  await leftovers("--fix");
  expect([existsSync(worktree), existsSync(join(paths.launches, "ma-2"))]).toEqual([true, false]);
  expect(existsSync(join(paths.launches, "ma-1"))).toBe(true);
});

test("[CLI-59] with the daemon down doctor reports that it cannot check", async () => {
  const { paths, leftovers } = await home(null);
  mkdirSync(join(paths.worktrees, "my-app", "ma-1"), { recursive: true });
  expect(await leftovers()).toMatchObject([
    {
      level: "info",
      message: expect.stringContaining(
        "Cannot check for orphaned worktrees and tmux sessions while the daemon is down",
      ) as string,
    },
  ]);
});
