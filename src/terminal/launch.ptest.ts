import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { program, TmuxWorld } from "../../test/agents/tmux-world.ts";
import { until } from "../../test/harness/until.ts";
import { identify, isAlive } from "../base/pid.ts";
import { asProjectId, asPromptId, asSessionId } from "../contract/ids.ts";
import { known, look, requestFor } from "../ports/runtime-contract.fixture.ts";

const stopping = { force: true, deadlineMs: 1500 };

test("[TERMINAL-12] x-1 and x-10 are two sessions: stopping one leaves the other", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const ten = await world.up(runtime, world.sessionOf({}, { id: asSessionId("x-10") }));
  const one = world.sessionOf({}, { id: asSessionId("x-1") });
  expect((await look(runtime, one)).seen.is).toBe("absent");
  expect((await runtime.stop(one, stopping)).remaining).toEqual([]);
  expect(await runtime.send(one, { promptId: asPromptId("p"), text: "hello" })).toMatchObject({ sent: "not-now" });
  const first = await world.up(runtime, one);
  expect((await runtime.stop(first.session, stopping)).remaining).toEqual([]);
  expect(isAlive(first.result.agent)).toBe(false);
  expect(isAlive(ten.result.agent)).toBe(true);
  expect(known(await look(runtime, ten.session)).agent.alive).toBe(true);
});

test("[WORKTREE-2, TERMINAL-15] names and paths with . : #(…) unicode and 200 characters start, are found, and run nothing", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const pwned = join(world.directory, "pwned");
  const odd = [
    "x-1.2",
    "x-1:2",
    `x-#(touch ${pwned})`,
    "x-größe-日本語",
    `x-${"long".repeat(50)}1`,
    `x-${"long".repeat(50)}2`,
    "x-;",
  ];
  const ups = [];
  for (const id of odd) {
    const workspacePath = join(
      world.workspace,
      `${id.slice(0, 60).replaceAll("/", "_")} #(touch ${pwned.replaceAll("/", "_")}) #{pid}`,
    );
    mkdirSync(workspacePath, { recursive: true });
    ups.push(
      await world.up(runtime, world.sessionOf({}, { id: asSessionId(id), project: asProjectId(id), workspacePath })),
    );
  }
  const observed = await runtime.observe(ups.map(({ session }) => session));
  for (const { session, request, result } of ups) {
    const seen = known(observed.get(session.id)!);
    expect(seen).toMatchObject({ launch: request.launch, agent: { alive: true, identity: result.agent } });
    const cwd = readFileSync(`/proc/${result.agent.pid}/environ`, "utf8")
      .split("\0")
      .find((one) => one.startsWith("PWD="));
    expect(cwd).toBe(`PWD=${session.workspacePath}`);
  }
  await Promise.all(ups.map(({ session }) => runtime.stop(session, stopping)));
  for (const { result } of ups) expect(isAlive(result.agent)).toBe(false);
  expect(existsSync(pwned)).toBe(false);
  expect(readdirSync(world.workspace).filter((name) => name.includes("pwned") && !name.startsWith("x-"))).toEqual([]);
});

test("[TERMINAL-11] arguments and environment go through a private file that is gone once the agent runs", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const planned = world.sessionOf({
    start: ["/bin/sh", "-c", 'ls -l "$1"/run >/dev/null; cat', "sh", "{hooks}"],
    files: [{ name: "bin/hook.sh", text: "#!/bin/sh\n# {id} {hooks}\n", executable: true }],
    env: { WHERE: "{hooks}" },
  });
  const { session, request, result } = await world.up(runtime, planned, {
    env: { SECRET: "s3cret", LONG: "x".repeat(100_000) },
  });
  const directory = join(world.directory, "launches", session.id, request.launch);
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(existsSync(join(directory, "run"))).toBe(false);
  expect(statSync(join(directory, "bin/hook.sh")).mode & 0o777).toBe(0o700);
  expect(readFileSync(join(directory, "bin/hook.sh"), "utf8")).toContain(directory);
  const environ = readFileSync(`/proc/${result.agent.pid}/environ`, "utf8").split("\0");
  expect(environ).toContain("SECRET=s3cret");
  expect(environ).toContain(`WHERE=${directory}`);
  expect(environ).toContain(`HOLDFAST_LAUNCH=${request.launch}`);
  expect(environ.filter((one) => /^(TMUX|OLDPWD|holdfast_)/.test(one))).toEqual([]);
  expect(readFileSync(`/proc/${result.agent.pid}/cmdline`, "utf8")).not.toContain("s3cret");
});

test("[TERMINAL-21] a chosen conversation id is minted once, given to the agent, and found again by a later daemon", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const planned = world.sessionOf({
    start: ["/bin/sh", "-c", 'echo "$@" >"$0"; exec cat', "{hooks}/args", "{id}"],
    startPrompt: ["{prompt}"],
    conversationId: "chosen",
  });
  const prompt = { promptId: asPromptId("p"), text: "two\nlines; 'quoted' {id}" };
  const { session, request, result } = await world.up(runtime, planned, { prompt });
  expect(result.promptTaken).toBe(true);
  const args = join(world.directory, "launches", session.id, request.launch, "args");
  await until("the agent to write them down", () => existsSync(args) && readFileSync(args, "utf8") !== "");
  expect(readFileSync(args, "utf8")).toBe(`${result.agentSessionId} ${prompt.text}\n`);
  const later = world.open();
  expect(known(await look(later, session)).agentSessionId).toBe(result.agentSessionId);
  expect(await later.launch(request)).toEqual(result);
});

test("[TERMINAL-16] a missing command and a missing worktree are failed launches with a reason", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const missing = await runtime.launch(requestFor(world.sessionOf({ start: ["no-such-agent-here"] })));
  expect(missing).toMatchObject({ launched: false, exit: { code: 127, signal: null }, conversationGone: false });
  expect(!missing.launched && missing.reason).toMatch(/was not found: .*no-such-agent-here/);
  const away = await runtime.launch(
    requestFor(world.sessionOf({}, { workspacePath: join(world.directory, "nowhere") })),
  );
  expect(away).toMatchObject({ launched: false, exit: { code: 126 } });
  expect(world.tmux("list-sessions")).toBe("");
});

test("[DECIDE-28] a missing conversation is distinguished from other failures to resume", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const agent = {
    start: program("says-gone.sh", "--fresh"),
    resume: program("says-gone.sh", "--resume", "{id}"),
    conversationGone: [/No conversation found/],
  };
  const request = requestFor(world.sessionOf(agent, { agentSessionId: "abc" }), { how: "resume" });
  expect(await runtime.launch(request)).toMatchObject({
    launched: false,
    conversationGone: true,
    exit: { code: 1, signal: null },
    lastLines: ["No conversation found with session ID: abc"],
  });
  const unknown = requestFor(world.sessionOf(agent), { how: "resume" });
  expect(await runtime.launch(unknown)).toMatchObject({ launched: false, conversationGone: false });
});

test("[TERMINAL-23] a new launch replaces a dead one, and never a running one", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const planned = world.sessionOf({});
  const { session, result } = await world.up(runtime, planned);
  expect(await runtime.launch(requestFor(session))).toMatchObject({
    launched: false,
    reason: expect.stringContaining("still runs"),
  });
  process.kill(identify(result.agent.pid)!.pid, "SIGKILL");
  await until("tmux to see the death", async () => !known(await look(runtime, session)).agent.alive);
  const again = await world.up(runtime, session);
  expect(known(await look(runtime, again.session)).launch).toBe(again.request.launch);
});

test("[TERMINAL-23] if a name is taken on our server, both sessions stay, and attach names the right one", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const { session: first } = await world.up(runtime, world.sessionOf({}, { role: "orchestrator" }));
  const { session: second } = await world.up(runtime, world.sessionOf({}, { role: "orchestrator" }));
  const seen = await runtime.observe([first, second]);
  expect(known(seen.get(first.id)!).agent.alive && known(seen.get(second.id)!).agent.alive).toBe(true);
  expect(runtime.attachCommand(first)).toEqual([
    "tmux",
    "-S",
    `/tmp/tmux-${process.getuid?.() ?? 0}/${world.socketName}`,
    "attach",
    "-t",
    "=orchestrator-project",
  ]);
  const other = runtime.attachCommand(second)!.at(-1)!;
  expect(other).toMatch(/^=orchestrator-project-[0-9a-f]{8}$/);
  expect(world.tmux("has-session", "-t", other)).toBe("");
});

test("[TERMINAL-24] the server's own config: no user config, no status line, panes of dead agents stay", async () => {
  await using world = new TmuxWorld();
  writeFileSync(join(world.directory, ".tmux.conf"), "set -g status on\nset -g history-limit 7\n");
  const runtime = world.open();
  await world.up(runtime, world.sessionOf({}));
  expect(world.tmux("show-options", "-g").split("\n")).toEqual(
    expect.arrayContaining(["status off", "history-limit 20000", "mouse on"]),
  );
  expect(world.tmux("show-options", "-s").split("\n")).toEqual(
    expect.arrayContaining(["set-clipboard off", "exit-empty on"]),
  );
  const environment = world.tmux("show-environment", "-g");
  expect(environment).not.toMatch(/^(TMUX|HOLDFAST)/m);
});

test("[TERMINAL-39] a resumed agent is observed as soon as its launch is over: its earlier hooks are not repeated", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const hook = 'echo ready; echo "{}" >>"$1/hooks"; exec sleep 600';
  const agent = { start: ["cat"], resume: ["/bin/sh", "-c", hook, "sh", "{hooks}"] };
  const planned = world.sessionOf(agent, { agentSessionId: "abc" });
  const told: unknown[] = [];
  runtime.onHint((session) => told.push(session));
  await world.up(runtime, planned, { how: "resume" });
  expect(told).toContain(planned.id);
});
