/** The path in, the exit status, and what the death of each process does; under each shell that may be `sh`. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isRunning } from "../../test/harness/marked.ts";
import { until } from "../../test/harness/until.ts";
import { echo, KeeperWorld, privateMemory, shells, stateOf } from "./keeper.fixture.ts";

const hasShellcheck = spawnSync("shellcheck", ["--version"]).error === undefined;
test.runIf(hasShellcheck)("[CHAT-1] shellcheck reports nothing (needs shellcheck)", () => {
  const script = new URL("keeper.sh", import.meta.url).pathname;
  const checked = spawnSync("shellcheck", ["--shell=sh", "--severity=style", script], { encoding: "utf8" });
  expect(checked.stdout).toBe("");
  expect(checked.status).toBe(0);
});

test("[CHAT-1] the script that is launched is the script that is read and checked", () => {
  const built = new URL("../../dist/keeper.sh", import.meta.url);
  expect(readFileSync(built, "utf8")).toBe(readFileSync(new URL("keeper.sh", import.meta.url), "utf8"));
});

describe.each(shells)("$name", ({ shell, mostPrivate }) => {
  test("[CHAT-2] a line reaches the agent once, in one piece or two, however often the bell is rung", async () => {
    await using world = new KeeperWorld({ shell, command: echo });
    await world.pids();
    expect(world.ring("r")).toBe("rung");
    await world.say("one\n");
    await world.heard("got one\n");
    await world.say("tw");
    await world.say("o\n");
    await world.heard("got one\ngot two\n");
    world.append("three\nfour\n");
    for (let ring = 0; ring < 50; ring += 1) world.ring("r");
    await world.say("five\n");
    await world.heard("got one\ngot two\ngot three\ngot four\ngot five\n");
    expect(world.read("err")).toBe("");
  });

  test("[CHAT-2] lines written before the agent started are read", async () => {
    await using world = new KeeperWorld({ shell, command: ["sh", "-c", 'read -r line; echo "got $line"'] });
    world.append("early\n");
    await world.say("");
    await world.heard("got early\n");
    expect(await world.exit()).toBe(0);
  });

  test("[CHAT-3] q closes the agent's stdin after the lines rung before it, and nothing else is read", async () => {
    await using world = new KeeperWorld({ shell, command: [...echo.slice(0, 2), `${echo[2]}; exit 3`] });
    await world.say("one\n");
    await world.heard("got one\n");
    // Else the ring for the first line might read the second.
    await world.settled();
    world.append("not rung\n");
    world.ring("q");
    expect(await world.exit()).toBe(3);
    expect(world.read("out")).toBe("got one\nend\n");
    await world.gone();
    await until("the keeper's own status", () => world.process.exitCode === 3);
  });

  test.each([
    ["exit 0", 0],
    ["exit 3", 3],
    ["kill -15 $$", 143],
    ["kill -9 $$", 137],
    ["exec /no/such/agent", 127],
  ])("[CHAT-4] %s leaves the status %i, and no process", async (script, status) => {
    await using world = new KeeperWorld({ shell, command: ["sh", "-c", `echo said; ${script}`] });
    expect(await world.exit()).toBe(status);
    expect(world.read("out")).toBe("said\n");
    await world.gone();
    expect(existsSync(world.path("exit.tmp"))).toBe(false);
  });

  test("[CHAT-4] a missing command leaves 127 and an error message", async () => {
    await using world = new KeeperWorld({ shell, command: ["no-such-agent", "--acp"] });
    expect(await world.exit()).toBe(127);
    expect(world.read("err")).toContain("no-such-agent");
    await world.gone();
  });

  test("[CHAT-5] a directory that was used before is refused", async () => {
    await using world = new KeeperWorld({ shell, command: ["true"] });
    await world.exit();
    await world.gone();
    const again = spawnSync(shell[0]!, world.process.spawnargs.slice(1), { env: world.environment({}) });
    expect(again.status).toBe(125);
    expect(world.read("exit")).toBe("  0\n");
  });

  test("[CHAT-15] a polite stop of the group ends the agent by its signal, and the status is kept", async () => {
    await using world = new KeeperWorld({ shell, command: ["sleep", "300"] });
    const { keeper } = await world.pids();
    await world.settled();
    process.kill(-keeper, "SIGTERM");
    expect(await world.exit()).toBe(143);
    await world.gone();
  });

  test("[CHAT-15] an agent that ignores the polite stop sees its stdin end, and stays watched until it has gone", async () => {
    const deaf = ["sh", "-c", 'trap "" TERM HUP INT; echo ready; cat >/dev/null; echo end; sleep 300; sleep 300'];
    await using world = new KeeperWorld({ shell, command: deaf });
    const { keeper, watcher } = await world.pids();
    await world.heard("ready\n");
    await world.settled();
    for (const signal of ["SIGINT", "SIGHUP", "SIGTERM"] as const) process.kill(-keeper, signal);
    await world.heard("ready\nend\n");
    expect([keeper, watcher, await world.agent()].map(isRunning)).toEqual([true, true, true]);
    expect(existsSync(world.path("exit"))).toBe(false);
    process.kill(await world.agent(), "SIGKILL");
    expect(await world.exit()).toBe(137);
    await until("keeper and watcher to be gone", () => ![keeper, watcher].some(isRunning));
  });

  test("[CHAT-15] the agent gets its own environment, signals and descriptors, and none of the keeper's", async () => {
    const seen = ["sh", "-c", "umask; env; grep SigIgn /proc/self/status; exec sleep 300"];
    const env = { PATH: "/bin:/usr/bin:odd", hf_dir: "mine", text: "mine", me: "mine", rest: "mine", tick: "mine" };
    await using world = new KeeperWorld({ shell, command: seen, env });
    const agent = await world.agent();
    await until("sleep", () => readFileSync(`/proc/${agent}/cmdline`, "utf8").startsWith("sleep"));
    const said = world.read("out").split("\n");
    expect(said[0]).toBe(process.umask().toString(8).padStart(4, "0"));
    expect(said).toEqual(
      expect.arrayContaining(["PATH=/bin:/usr/bin:odd", "text=mine", "me=mine", "rest=mine", "tick=mine"]),
    );
    expect(said).toEqual(expect.arrayContaining(["SigIgn:\t0000000000000000"]));
    expect(said.filter((line) => line.startsWith("HOLDFAST_KEEPER"))).toEqual([]);
    expect(descriptorsInto(world.home, agent)).toEqual(["0", "1", "2"]);
    for (const name of ["pids", "agent.pid", "exit.tmp", "p", "bell"]) {
      expect([name, statSync(world.path(name)).mode & 0o777]).toEqual([name, 0o600]);
    }
  });

  test("[CHAT-6] a killed keeper does no harm, and its helpers exit with the agent", async () => {
    await using world = new KeeperWorld({ shell, command: echo, tick: 0.05 });
    const { keeper, feeder, watcher } = await world.pids();
    await world.say("one\n");
    await world.heard("got one\n");
    await world.kill(keeper);
    await world.looks(2);
    await world.say("two\n");
    await world.heard("got one\ngot two\n");
    expect([feeder, watcher].map(isRunning)).toEqual([true, true]);
    await world.kill(await world.agent());
    await world.gone();
    expect(existsSync(world.path("exit"))).toBe(false);
  });

  test("[CHAT-6] a killed feeder leaves the agent deaf, but not ended", async () => {
    await using world = new KeeperWorld({ shell, command: echo, tick: 0.05 });
    const { feeder } = await world.pids();
    await world.say("one\n");
    await world.heard("got one\n");
    await world.settled();
    await world.kill(feeder);
    expect(world.ring("r")).toBe("deaf");
    await world.looks(3);
    expect(world.read("out")).toBe("got one\n");
    process.kill(await world.agent(), "SIGTERM");
    expect(await world.exit()).toBe(143);
    await world.gone();
  });

  test("[CHAT-6] a feeder killed in the middle of a line leaves that line intact", async () => {
    await using world = new KeeperWorld({ shell, command: echo });
    const { feeder } = await world.pids();
    const agent = await world.agent();
    await world.settled();
    process.kill(agent, "SIGSTOP");
    // More than fits into a pipe.
    const line = "x".repeat(100_000);
    await world.say(`${line}\n`);
    await until("the line to be on its way", () => feederOffset(feeder) > line.length);
    await world.kill(feeder);
    expect(world.ring("r")).toBe("deaf");
    process.kill(agent, "SIGCONT");
    await world.heard(`got ${line}\n`);
  });

  test("[CHAT-6] a killed watcher harms nothing, and q still closes the agent's stdin", async () => {
    await using world = new KeeperWorld({ shell, command: echo });
    const { watcher } = await world.pids();
    await world.settled();
    await world.kill(watcher);
    await world.say("one\n");
    await world.heard("got one\n");
    world.ring("q");
    expect(await world.exit()).toBe(0);
    expect(world.read("out")).toBe("got one\nend\n");
  });

  test("[CHAT-7] each process continues where it was after a stop signal", async () => {
    await using world = new KeeperWorld({ shell, command: echo });
    const { keeper, feeder, watcher } = await world.pids();
    const all = [keeper, feeder, watcher, await world.agent()];
    let said = "";
    for (const pid of all) {
      process.kill(pid, "SIGSTOP");
      await until(`${pid} to be stopped`, () => stateOf(pid) === "T");
      await world.say(`${pid}\n`);
      process.kill(pid, "SIGCONT");
      said += `got ${pid}\n`;
      await world.heard(said);
    }
    expect(existsSync(world.path("exit"))).toBe(false);
  });

  test("[CHAT-8] keeper, feeder and watcher are small, also after many lines", async () => {
    await using world = new KeeperWorld({ shell, command: ["wc", "-l"] });
    const { keeper, feeder, watcher } = await world.pids();
    const allRead = () => until("all to be read", () => statSync(world.path("in")).size === feederOffset(feeder));
    // The first line and the first look cost the pages that they write to.
    await world.settled();
    await world.say("first\n");
    await allRead();
    const before = privateMemory([keeper, feeder, watcher]);
    const lines = "x".repeat(20).concat("\n").repeat(10_000);
    for (let part = 0; part < 100; part += 1) {
      world.append(lines);
      world.ring("r");
    }
    await allRead();
    const after = privateMemory([keeper, feeder, watcher]);
    world.ring("q");
    expect(await world.exit()).toBe(0);
    expect(world.read("out")).toBe("1000001\n");
    expect(after - before).toBeLessThan(40);
    expect(after).toBeLessThan(mostPrivate);
    if (process.env["HOLDFAST_TEST_SHOW"] !== undefined) console.log(shell.join(" "), before, after);
  });

  test("[CHAT-9] a hundred megabytes of output arrive intact", async () => {
    const line = `${"y".repeat(99)}\n`;
    const flood = ["sh", "-c", `yes ${"y".repeat(99)} | head -n 1000000`];
    await using world = new KeeperWorld({ shell, command: flood, tick: 0.05 });
    expect(await world.exit(50_000)).toBe(0);
    await world.gone();
    const out = readFileSync(world.path("out"));
    expect(out.length).toBe(100_000_000);
    expect(out.subarray(0, 100).toString()).toBe(line);
    expect(out.subarray(-100).toString()).toBe(line);
  });
});

/** Which descriptors lead to our files; a test run may itself pass others on. */
function descriptorsInto(directory: string, pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).filter((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`).startsWith(directory));
}

/** Where the feeder's place in `in` is, as the kernel sees it; dash moves the descriptor aside while a `cat` runs. */
function feederOffset(feeder: number): number {
  const fd = readdirSync(`/proc/${feeder}/fd`).find((name) =>
    readlinkSync(`/proc/${feeder}/fd/${name}`).endsWith("/in"),
  );
  return Number(/^pos:\s+(\d+)$/m.exec(readFileSync(`/proc/${feeder}/fdinfo/${fd}`, "utf8"))?.[1]);
}
