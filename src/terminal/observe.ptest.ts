import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { program, TmuxWorld } from "../../test/agents/tmux-world.ts";
import { until } from "../../test/harness/until.ts";
import { identify, isAlive, signalIdentity } from "../base/pid.ts";
import { asPromptId } from "../contract/ids.ts";
import { known, look, requestFor } from "../ports/runtime-contract.fixture.ts";

const stopping = { force: true, deadlineMs: 1500 };

test.each([
  ["0", { code: 0, signal: null }],
  ["7", { code: 7, signal: null }],
  ["137", { code: 137, signal: null }],
  ["KILL", { code: null, signal: "SIGKILL" }],
  ["SEGV", { code: null, signal: "SIGSEGV" }],
])(
  "[DECIDE-29, TERMINAL-16] an agent that ends with %s: exit, signal and last lines are on record",
  async (how, exit) => {
    await using world = new TmuxWorld();
    const runtime = world.open();
    const { session, request } = await world.up(runtime, world.sessionOf({ start: program("ends-on-request.sh") }));
    const hinted = new Promise<void>((resolve) => runtime.onHint(() => resolve()));
    await runtime.send(session, { promptId: asPromptId("p"), text: how });
    await hinted;
    const seen = await until("the death", async () => {
      const { seen } = await look(runtime, session);
      return seen.is === "known" && !seen.value.agent.alive ? seen.value : null;
    });
    expect(seen).toMatchObject({
      launch: request.launch,
      agent: { alive: false, exit },
      processes: [],
      activity: null,
    });
    expect(seen.lastLines[0]).toBe("ready");
    expect(seen.lastLines.includes("last words")).toBe(exit.code !== null);
    // A daemon that comes later reads the same from the dead pane.
    expect(known(await look(world.open(), session))).toMatchObject({
      agent: { alive: false, exit },
      lastLines: seen.lastLines,
    });
  },
);

test("[HOME-3] an agent that runs in the tmux server of another home is unknown, and is not ended", async () => {
  await using world = new TmuxWorld("holdfast-");
  const runtime = world.open({ home: "one" });
  const { session, result } = await world.up(runtime, world.sessionOf({}));
  // The same launches seen from a copy: by another socket, and by the same one under another id.
  for (const other of [world.open({ home: "two", socketName: `${world.socketName}x` }), world.open({ home: "two" })]) {
    expect((await look(other, session)).seen).toEqual({
      is: "unknown",
      why: expect.stringMatching(/tmux server of another home|cannot be reached by its socket/) as string,
    });
  }
  expect(isAlive(result.agent)).toBe(true);
  expect(known(await look(runtime, session))).toMatchObject({ agent: { alive: true } });
});

test("[TERMINAL-9] a server that is stopped is unknown, never absent", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session, result } = await world.up(runtime, world.sessionOf({}));
  // Its patience is short, since nothing comes.
  const impatient = world.open({ callDeadlineMs: 700 });
  const server = identify(Number(world.tmux("list-sessions", "-F", "#{pid}")))!;
  signalIdentity(server, "SIGSTOP");
  try {
    // What was asked before it stopped may still be answered.
    const { seen, cause } = await until("the silence", async () => {
      const found = await look(impatient, session);
      return found.seen.is === "known" ? null : found;
    });
    expect(seen).toEqual({ is: "unknown", why: expect.stringContaining("did not answer") });
    expect(cause).toBeNull();
    expect(await impatient.send(session, { promptId: asPromptId("p"), text: "hello" })).toMatchObject({
      sent: "not-now",
    });
  } finally {
    signalIdentity(server, "SIGCONT");
  }
  expect(known(await look(runtime, session)).agent).toEqual({ alive: true, identity: result.agent });
});

test("[TERMINAL-25] absence is claimed with its proof: no server, another boot, or an identity that is gone", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session, result } = await world.up(runtime, world.sessionOf({}));
  const other = await world.up(runtime, world.sessionOf({}));
  // As a user would, by tmux itself.
  world.tmux("kill-session", "-t", "=worker-project-t-1");
  await until("the agent to be gone", () => !isAlive(result.agent));
  expect(await look(runtime, session)).toEqual({ seen: { is: "absent" }, cause: "identity-gone" });
  const agent = { ...result.agent, bootId: "another" };
  const rebooted = { ...session, run: { ...session.run, agent } as typeof session.run };
  expect(await look(runtime, rebooted)).toEqual({ seen: { is: "absent" }, cause: "other-boot" });
  world.tmux("kill-server");
  await until("the agent to be gone", () => !isAlive(other.result.agent));
  const gone = await until("the server to be gone", async () => {
    const observation = await look(runtime, other.session);
    return observation.seen.is === "unknown" ? null : observation;
  });
  expect(gone).toEqual({ seen: { is: "absent" }, cause: "no-server" });
});

test("[TERMINAL-25] processes that outlive their pane are listed, so that they can be ended", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session, result } = await world.up(runtime, world.session("ignores-sigterm"));
  await until("the agent to be deaf", async () => (await runtime.capture(session, 5)).includes("ready"));
  world.tmux("kill-server");
  // While it goes, its answers tell nothing.
  const { seen, cause } = await until("the server to be gone", async () => {
    const { seen: now, cause } = await look(runtime, session);
    return now.is === "known" && !now.value.agent.alive ? { seen: now.value, cause } : null;
  });
  // Lost with it, although something of it still runs: it did not crash.
  expect(cause).toBe("no-server");
  expect(seen.agent).toEqual({ alive: false, exit: null });
  expect(seen.processes.map((one) => one.identity)).toContainEqual(result.agent);
  expect((await runtime.stop(session, stopping)).remaining).toEqual([]);
  expect(await look(runtime, session)).toEqual({ seen: { is: "absent" }, cause: "no-server" });
});

test("[TERMINAL-10] a server whose socket file was removed is found again; its agents do not count as dead", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session, result } = await world.up(runtime, world.sessionOf({}));
  rmSync(join("/tmp", `tmux-${process.getuid!()}`, world.socketName));
  expect((await look(runtime, session)).seen.is).toBe("unknown");
  const seen = await until("the server to answer again", async () => {
    const { seen } = await look(runtime, session);
    return seen.is === "known" ? seen.value : null;
  });
  expect(seen.agent).toEqual({ alive: true, identity: result.agent });
});

test("[TERMINAL-26] the user's own tmux server on another socket is not touched", async () => {
  await using world = new TmuxWorld();
  await using person = new TmuxWorld();
  person.tmux("new-session", "-d", "-s", "worker-project-t-1", "cat");
  const before = person.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_pid}");
  const runtime = world.open();
  const { session } = await world.up(runtime, world.sessionOf({}));
  await runtime.observe([session]);
  expect((await runtime.stop(session, stopping)).remaining).toEqual([]);
  expect(person.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_pid}")).toBe(before);
});

test("[TERMINAL-19] activity and conversation id come from hooks first, then from title and screen, else from nothing", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const planned = world.sessionOf({
    start: program("asks-permission.sh", join(world.directory, "keys")),
    screenRules: [{ where: "screen", pattern: /Allow this command\?/, activity: "needs_input" }],
    hookRules: [{ event: "Stop", activity: "idle", idField: "session_id" }],
  });
  const { session, request } = await world.up(runtime, planned);
  const activity = await until("the question", async () => known(await look(runtime, session)).activity);
  expect(activity).toMatchObject({ activity: "needs_input", source: "screen" });
  // A file's time is as coarse as the kernel's tick: a hook of the same instant would count as older than the screen.
  await until("the clock to move on", () => Date.now() > activity.since + 50);
  const hinted = new Promise((resolve) => runtime.onHint((id) => id === session.id && resolve(id)));
  const hooks = join(world.directory, "launches", session.id, request.launch, "hooks.jsonl");
  appendFileSync(hooks, '{"event":"Stop","session_id":"c-1"}\n');
  await hinted;
  const seen = known(await look(runtime, session));
  expect(seen).toMatchObject({ activity: { activity: "idle", source: "hook", reason: "Stop" }, agentSessionId: "c-1" });
  const silent = await world.up(runtime, world.sessionOf({}));
  expect(known(await look(runtime, silent.session)).activity).toBeNull();
});

test("[TERMINAL-19] a title shows activity without a capture of the screen", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const planned = world.sessionOf({
    start: ["/bin/sh", "-c", String.raw`printf '\033]2;✳ ready #(date)\007'; exec cat`],
    screenRules: [{ where: "title", pattern: /^✳/u, activity: "idle" }],
  });
  const { session } = await world.up(runtime, planned);
  const activity = await until("the title", async () => known(await look(runtime, session)).activity);
  expect(activity).toMatchObject({ activity: "idle", source: "title" });
});

test("[TERMINAL-26] a pane that the user adds to the session is not the agent", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session, result } = await world.up(runtime, world.sessionOf({}));
  world.tmux("split-window", "-t", "=worker-project-t-1:", "cat");
  const seen = known(await look(runtime, session));
  expect(seen.agent).toEqual({ alive: true, identity: result.agent });
  const added = world.tmux("list-panes", "-a", "-F", "#{pane_pid}").trim().split("\n").map(Number);
  expect(added).toHaveLength(2);
  expect((await runtime.stop(session, stopping)).remaining).toEqual([]);
  await until("the added pane to go with its session", () => added.every((pid) => identify(pid) === null));
});

test("[TERMINAL-2] the tmux server holds no pipe of ours: agents live on when the process that launched them is killed", async () => {
  await using world = new TmuxWorld();
  const planned = world.sessionOf({});
  const script = join(world.directory, "launch.mts");
  const code = `import { openTmuxRuntime } from ${JSON.stringify(join(import.meta.dirname, "runtime.ts"))};
const options = JSON.parse(process.argv[2]);
const agents = { of: () => options.agent, list: () => [] };
const runtime = openTmuxRuntime({ ...options, agents });
process.stdout.write(JSON.stringify(await runtime.launch(options.request)));
setInterval(() => {}, 1000);
`;
  appendFileSync(script, code);
  const options = {
    socketName: world.socketName,
    configDirectory: join(world.directory, "tmux"),
    launchesDirectory: join(world.directory, "launches"),
    bootId: "b",
    env: { PATH: process.env["PATH"], HOLDFAST_HOME: world.directory },
    request: requestFor(planned),
    agent: {
      env: {},
      terminal: {
        start: ["cat"],
        startPrompt: null,
        resume: null,
        conversationId: "none",
        files: [],
        env: {},
        hookRules: [],
        conversationGone: [],
      },
    },
  };
  const child = spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ["ignore", "pipe", "inherit"] });
  const result = JSON.parse(
    await new Promise<string>((resolve) => child.stdout.once("data", (data) => resolve(String(data)))),
  );
  expect(result).toMatchObject({ launched: true });
  const ended = new Promise((resolve) => child.once("close", resolve));
  child.kill("SIGKILL");
  await ended;
  expect(isAlive(result.agent)).toBe(true);
  expect(readFileSync(`/proc/${result.agent.pid}/comm`, "utf8")).toBe("cat\n");
});

test("[TERMINAL-27] each of many deaths gets its exit status, even if tmux misses some", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const ups = [];
  for (let count = 0; count < 12; count += 1) {
    const start = ["/bin/sh", "-c", "until test -e go; do sleep 0.2; done; exit 5"];
    ups.push(await world.up(runtime, world.sessionOf({ start })));
  }
  writeFileSync(join(world.workspace, "go"), "");
  const sessions = ups.map(({ session }) => session);
  const codes = await until("all exits", async () => {
    const observed = [...(await runtime.observe(sessions)).values()];
    const exits = observed.flatMap(({ seen }) =>
      seen.is === "known" && !seen.value.agent.alive ? seen.value.agent.exit : [],
    );
    return exits.length === sessions.length ? exits : null;
  });
  expect(codes).toEqual(sessions.map(() => ({ code: 5, signal: null })));
});
