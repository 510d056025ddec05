import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunning } from "../../test/harness/marked.ts";
import { until } from "../../test/harness/until.ts";
import { type Cgroups, forgetCgroup, joinFile, openCgroups } from "./cgroup.ts";
import { endTree, findTree } from "./process-tree.ts";

const runsAway = join(import.meta.dirname, "../../test/agents/runs-away.sh");
const read = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
const mounts = read("/proc/self/mountinfo").split("\n");

/** With one kind of mount alone. */
function open(type: string): Cgroups {
  const kept = mounts.filter((line) => line.includes(` - ${type} `)).join("\n");
  return openCgroups(`holdfast-${randomBytes(6).toString("hex")}`, null, {
    mounts: kept,
    own: read("/proc/self/cgroup"),
  });
}

const kinds = ["cgroup2", "cgroup"].filter((type) => open(type).state.is === "ok");

test.each(kinds)(
  "[TERMINAL-4] a process that escapes from a launch is in its cgroup (%s), and is killed with it",
  async (type) => {
    const directory = mkdtempSync(join(tmpdir(), "hf-cgroup-"));
    const file = join(directory, "pid");
    const cgroup = open(type).make("ma-1", "a-launch")!;
    const child = spawn("sh", ["-c", 'echo 0 >"$0"; exec "$@"', joinFile(cgroup), runsAway, file, "sleep", "600"], {
      stdio: "ignore",
    });
    try {
      await until("the runaway", () => existsSync(file));
      const pid = Number(readFileSync(file, "utf8"));
      const target = { roots: [], marker: null, cgroups: [cgroup] };
      expect((await findTree(target)).map(({ identity }) => identity.pid)).toEqual(
        expect.arrayContaining([child.pid, pid]),
      );
      expect(await endTree(target, { politeMs: 50, forceMs: 20_000 })).toEqual([]);
      expect(isRunning(pid)).toBe(false);
      forgetCgroup(cgroup);
      expect(existsSync(join(cgroup, ".."))).toBe(false);
    } finally {
      child.kill("SIGKILL");
      rmSync(directory, { recursive: true });
    }
  },
);
