/** When the watcher ends an abandoned tree and when it must not, and the bounds it keeps; under each shell. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRunning } from "../../test/harness/marked.ts";
import { until } from "../../test/harness/until.ts";
import { echo, KeeperWorld, lookNow, readThree, shells, stateOf } from "./keeper.fixture.ts";

const tick = 0.03;
/** What has a session of its own and is reparented: no group and no parent leads to it. */
const daemon = '(trap "echo polite; exit" TERM; echo ready; sleep 300 & wait) & exit 0';
const withDaemon = ["sh", "-c", `setsid sh -c '${daemon}'; exec sleep 300`];
const forever = 'trap "" TERM HUP INT QUIT; while :; do sleep 300; done';
const stubborn = ["sh", "-c", `setsid sh -c '(${forever}) & exit 0'; echo ready; ${forever}`];

// Side by side: they mostly wait for the watcher.
describe.concurrent.each(shells)("$name", ({ shell }) => {
  test("[CHAT-10] a record that is missing twice stops the complete tree, including children in their own session", async () => {
    await using world = new KeeperWorld({ shell, command: withDaemon, tick });
    await world.heard("ready\n");
    await world.looks(2);
    rmSync(world.record);
    await world.gone();
    expect(await world.exit()).toBe(143);
    expect(world.read("out")).toBe("ready\npolite\n");
  });

  test("[CHAT-10] so does a home that was removed altogether", async () => {
    await using world = new KeeperWorld({ shell, command: ["sleep", "300"], tick });
    await world.settled();
    rmSync(join(world.record, ".."), { recursive: true });
    await world.gone();
    expect(isRunning(world.process.pid!)).toBe(false);
  });

  test("[HOME-4] a home that is renamed under it is followed: nothing ends before the record is gone there", async () => {
    await using world = new KeeperWorld({ shell, command: ["sleep", "300"], tick });
    await world.settled();
    const session = join(world.record, "..");
    const moved = `${session} elsewhere`;
    renameSync(session, moved);
    await world.looks(4);
    expect(isRunning(world.process.pid!)).toBe(true);
    rmSync(join(moved, "record.json"));
    await until("the keeper to end", () => !isRunning(world.process.pid!));
    renameSync(moved, session);
  });

  test("[CHAT-10] an agent that ignores all that is polite is ended by force", async () => {
    await using world = new KeeperWorld({ shell, command: stubborn, tick });
    await world.heard("ready\n");
    process.kill(await world.agent(), "SIGSTOP");
    rmSync(world.record);
    // Five seconds and more: each of its rounds reads all of /proc.
    await world.gone(50_000);
    expect(await world.exit()).toBe(137);
  });

  test("[CHAT-11] a record that is missing for one check stops nothing, even repeatedly", async () => {
    await using world = new KeeperWorld({ shell, command: echo });
    await world.settled();
    for (let time = 0; time < 2; time += 1) {
      renameSync(world.record, `${world.record}.away`);
      await world.look();
      renameSync(`${world.record}.away`, world.record);
      await world.look();
    }
    expect(isRunning(await world.agent())).toBe(true);
  });

  test("[CHAT-11] a record that is empty, cut or unreadable ends nothing", async () => {
    await using world = new KeeperWorld({ shell, command: echo });
    await world.settled();
    for (const text of ["", "\n", '{"version":1,"ses', "\0\0\0"]) {
      writeFileSync(world.record, text);
      await world.look(3);
    }
    rmSync(world.record);
    mkdirSync(world.record);
    await world.look(3);
    await world.say("still here\n");
    await world.heard("got still here\n");
    expect(world.ring("r")).toBe("rung");
  });

  test.runIf(process.getuid?.() !== 0)(
    "[CHAT-11] a directory that cannot be searched proves nothing (needs a user other than root)",
    async () => {
      await using world = new KeeperWorld({ shell, command: echo });
      await world.settled();
      chmodSync(join(world.record, ".."), 0);
      await world.look(4);
      chmodSync(join(world.record, ".."), 0o700);
      await world.say("still here\n");
      await world.heard("got still here\n");
      expect(world.ring("r")).toBe("rung");
    },
  );

  test.each([undefined, 2])(
    "[CHAT-12] a record that names another launch ends the tree (indent %s)",
    async (indent) => {
      await using world = new KeeperWorld({ shell, command: withDaemon, tick });
      await world.heard("ready\n");
      writeFileSync(
        world.record,
        JSON.stringify({ version: 1, launch: world.launch, restarting: false }, null, indent),
      );
      await world.looks(3);
      expect(isRunning(await world.agent())).toBe(true);
      // The former one may be named elsewhere in it.
      const other = { version: 1, launch: `${world.launch}-2`, marker: `HOLDFAST_LAUNCH=${world.launch}` };
      writeFileSync(world.record, JSON.stringify(other, null, indent));
      await world.gone();
      expect(await world.exit()).toBe(143);
    },
  );

  test("[CHAT-13] a number of ticks without a heartbeat stops the tree; each heartbeat restarts the count", async () => {
    const ticks = 6;
    await using world = new KeeperWorld({ shell, command: echo, ticks });
    await world.settled();
    for (let beat = 0; beat < 4; beat += 1) {
      writeFileSync(world.path("beat"), `${beat}\n`);
      await world.look(ticks - 1);
    }
    expect(isRunning(await world.agent())).toBe(true);
    await world.look(2);
    await world.gone();
    expect(await world.exit()).toBe(143);
  });

  test("[CHAT-13] a stopped watcher and a pending restart do not count", async () => {
    const ticks = 20;
    await using world = new KeeperWorld({ shell, command: echo, tick, ticks });
    world.writeRecord({ restarting: true });
    await world.looks(ticks + 5);
    const { watcher } = await world.pids();
    process.kill(watcher, "SIGSTOP");
    world.writeRecord();
    // Twice the ticks that are left, as time.
    const stopped = performance.now();
    await until("time to pass", () => performance.now() - stopped > ticks * tick * 1000 * 2);
    expect(isRunning(await world.agent())).toBe(true);
    process.kill(watcher, "SIGCONT");
    await world.gone();
    expect(await world.exit()).toBe(143);
  });

  test("[CHAT-14] stderr is cut at one mebibyte, and its end is kept", async () => {
    const noise = "yes 0123456789abcde | head -c 2097152 >&2; echo noisy";
    const noisy = ["sh", "-c", `${noise}; read -r go; echo more >&2; echo done; read -r go`];
    await using world = new KeeperWorld({ shell, command: noisy, tick });
    await world.heard("noisy\n");
    await until("err to be cut", () => statSync(world.path("err")).size <= 1_048_576);
    await world.looks(1);
    expect(world.read("err.old")).toMatch(/^(0123456789abcde\n){16384}$/);
    await world.say("go\n");
    await world.heard("noisy\ndone\n");
    expect(world.read("err").endsWith("more\n")).toBe(true);
    expect(world.read("err")).not.toContain("\0");
  });
});

/** Containers and some systems forbid it. */
const canMount =
  spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"], { stdio: "ignore" }).status === 0;

test.runIf(canMount)(
  "[CHAT-16] a full disk holds the agent before it can lose a line, and room lets it go on (needs to mount a disk)",
  async () => {
    // Mounted over the launch's directory before the keeper starts, in a mount namespace that goes with it.
    const mount = `mount -t tmpfs -o size=1m none "$2" && : >"$2/in" && : >"$2/out" && : >"$2/err" && exec dash "$@"`;
    // Writes while the disk is full, then waits to be asked for the rest.
    const agent = 'while read -r line; do head -c 100000 /dev/zero | tr "\\0" x; echo " $line"; done';
    await using world = new KeeperWorld({
      shell: ["unshare", "-rm", "sh", "-c", mount, "sh"],
      command: ["sh", "-c", agent],
    });
    const inside = (name: string): string => `/proc/${world.process.pid}/root${world.path(name)}`;
    const pid = Number(await until("agent.pid", () => /^\d+\n$/.exec(readFileSync(inside("agent.pid"), "utf8"))?.[0]));
    const { watcher } = await readThree(inside("pids"));
    const answers = (): number => readFileSync(inside("out"), "utf8").split("\n").length - 1;
    const ask = (line: string): void => {
      // The daemon finds this refused; here the test takes a page of the filler for it.
      if (existsSync(inside("filler"))) truncateSync(inside("filler"), statSync(inside("filler")).size - 4096);
      writeFileSync(inside("in"), `${line}\n`, { flag: "a" });
      writeFileSync(inside("bell"), "r\n");
    };
    await lookNow(watcher);
    expect(statSync(inside("out")).blocks * 512).toBeGreaterThanOrEqual(262_144);
    spawnSync("dd", ["if=/dev/zero", `of=${inside("filler")}`, "bs=4k"], { stdio: "ignore" });
    // From the reserve: complete, although nothing else can be written.
    ask("one");
    await until("the first answer", () => answers() === 1);
    expect(readFileSync(inside("out"), "utf8")).toMatch(/^x{100000} one\n$/);
    await lookNow(watcher);
    await until("the agent to be held", () => stateOf(pid) === "T");
    rmSync(inside("filler"));
    await lookNow(watcher);
    await until("the agent to go on", () => stateOf(pid) === "S");
    ask("two");
    await until("the second answer", () => answers() === 2);
    process.kill(pid, "SIGTERM");
    // The mount goes with the keeper.
    await world.gone();
  },
);
