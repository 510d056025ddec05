import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../test/harness/until.ts";
import { identify, isAlive, type Identity } from "./pid.ts";
import { endTree, findTree, type TreeTarget } from "./process-tree.ts";

const agents = join(import.meta.dirname, "../../test/agents");

/** A program in a group of its own, as a launch would start it, once it has said that it is ready. */
async function start(command: string[]): Promise<{ target: TreeTarget; root: Identity }> {
  const value = randomUUID();
  const child = spawn(command[0]!, command.slice(1), {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...process.env, HOLDFAST_TEST_TREE: value },
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const root = identify(child.pid!)!;
  return { root, target: { roots: [root], marker: { name: "HOLDFAST_TEST_TREE", values: [value] } } };
}

/** Longer than a test may take: whoever waits for this to pass, instead of for the end, fails. */
const longMs = 600_000;

const program = (name: string): string[] => [join(agents, name)];

test("[TERMINAL-3] a polite tree ends without force", async () => {
  const { root, target } = await start(program("forks-a-child.sh"));
  expect((await findTree(target)).length).toBe(2);
  expect(await endTree(target, { politeMs: longMs, forceMs: 0 })).toEqual([]);
  expect(isAlive(root)).toBe(false);
});

test.each(["ignores-sigterm.sh", "setsids-away.sh"])(
  "[TERMINAL-3] %s is gone after force, children and runaways included",
  async (name) => {
    const { target } = await start(program(name));
    await until("its child", async () => (await findTree(target)).length >= 2);
    expect(await endTree(target, { politeMs: 100, forceMs: 5000 })).toEqual([]);
    expect(await findTree(target)).toEqual([]);
  },
);

test("[TERMINAL-3] a tree that forks all the time cannot fork away", async () => {
  const forks = 'trap "" TERM HUP; echo ready; while :; do setsid sh -c "sleep 2" & done';
  const { target } = await start([
    "/bin/sh",
    "-c",
    `ulimit -u 100000; n=0; ${forks.replace("do ", "do n=$((n+1)); [ $n -gt 40 ] && sleep 0.05; ")}`,
  ]);
  expect(await endTree(target, { politeMs: 0, forceMs: 8000 })).toEqual([]);
});

test("[TERMINAL-3] an interactive shell, which ignores SIGTERM, ends on SIGHUP", async () => {
  const { target } = await start(["/bin/sh", "-c", 'trap "" TERM; echo ready; while :; do sleep 0.05; done']);
  expect(await endTree(target, { politeMs: longMs, forceMs: 0 })).toEqual([]);
});

test("[BASE-1] of something gone, ending is success, and a stopped process is ended too", async () => {
  const { root, target } = await start(program("forks-a-child.sh"));
  process.kill(root.pid, "SIGSTOP");
  await until("it to be stopped", () => isAlive(root));
  expect(await endTree(target, { politeMs: 2000, forceMs: 1000 })).toEqual([]);
  expect(await endTree(target, { politeMs: 2000, forceMs: 1000 })).toEqual([]);
});

test("[BASE-1] the same pid with another start time is never signaled", async () => {
  const { root, target } = await start(program("forks-a-child.sh"));
  const impostor: TreeTarget = { roots: [{ ...root, startTime: `${root.startTime}1` }], marker: null };
  expect(await endTree(impostor, { politeMs: 50, forceMs: 50 })).toEqual([]);
  expect(isAlive(root)).toBe(true);
  await endTree(target, { politeMs: 500, forceMs: 1000 });
});

test("[TERMINAL-6] helpers that hold nothing and ignore every polite word are not waited for once they are all that is left", async () => {
  const helper = `trap '' TERM HUP; echo "$$"; exec sleep 600`;
  const { target, root } = await start(["/bin/sh", "-c", `sh -c '${helper.replaceAll("'", "'\\''")}' & wait`]);
  const all = await until("the helper", async () => {
    const found = await findTree(target);
    return found.length === 2 && found.some(({ what }) => what === "sleep 600") ? found : null;
  });
  const helpers = all.filter(({ identity }) => identity.pid !== root.pid).map(({ identity }) => identity.pid);
  expect(await endTree(target, { politeMs: longMs, forceMs: 20_000, helpers })).toEqual([]);
  expect(await findTree(target)).toEqual([]);
});
