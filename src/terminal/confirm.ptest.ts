import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TmuxWorld } from "../../test/agents/tmux-world.ts";
import { until } from "../../test/harness/until.ts";
import { readStat } from "../base/pid.ts";
import type { TerminalAgent } from "../ports/agents.ts";
import { prompt, delivered, patient, composer, known, hooked, anything, sent, settled } from "./send.fixture.ts";

test("[TERMINAL-31] an Enter that became a line break is pressed again, and the prompt is confirmed once", async () => {
  await using world = new TmuxWorld();
  const env = { ...hooked, COMPOSER_ENTERS: "2" };
  const { runtime, session, taken } = await composer(world, env, known, { ...patient, hookMs: 30_000 });
  expect(await runtime.send(session, prompt("hello"))).toEqual({ sent: "seen", by: "hook" });
  expect(taken().map((text) => text.trim())).toEqual(["hello"]);
  expect(await delivered({ runtime, session }, "next")).toEqual({ sent: "seen", by: "hook" });
  expect(taken().map((text) => text.trim())).toEqual(["hello", "next"]);
});

test("[TERMINAL-31] a prompt that the agent never accepts is removed from its line before the next one", async () => {
  await using world = new TmuxWorld();
  const env = { ...hooked, COMPOSER_ENTERS: "3" };
  const one = await composer(world, env, known, { ...patient, hookMs: 60_000 });
  const { runtime, session, taken } = one;
  const result = await runtime.send(session, prompt("hello"));
  expect(result).toMatchObject({ sent: "not-now", why: expect.stringContaining("taken out"), typed: true });
  expect(await runtime.send(session, prompt("next"))).toEqual({ sent: "seen", by: "hook" });
  expect(taken()).toEqual(["next"]);
});

test("[TERMINAL-31] text that a user typed is left alone, and nothing is joined to it", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world, hooked, known);
  world.tmux("send-keys", "-t", "=worker-project-t-1:", "-l", "mine");
  await until("the text", async () => (await runtime.capture(session, 50)).includes("mine"));
  const why = "text that was not sent is in the agent's input line";
  expect(await runtime.send(session, prompt("hello"))).toEqual({ sent: "not-now", why });
  world.tmux("send-keys", "-t", "=worker-project-t-1:", "Enter");
  await until("it to be sent", () => taken().length === 1);
  expect(await delivered({ runtime, session }, "hello")).toEqual({ sent: "seen", by: "hook" });
  expect(taken()).toEqual(["mine", "hello"]);
});

test("[TERMINAL-31] a prompt that a daemon left in the line is sent by the next one, and not typed again", async () => {
  await using world = new TmuxWorld();
  const one = await composer(world, hooked, known);
  world.tmux("send-keys", "-t", "=worker-project-t-1:", "-l", "left over");
  await until("the text", async () => (await one.runtime.capture(one.session, 50)).includes("left over"));
  const next = { ...one, runtime: world.open({ sendTimes: patient }) };
  expect(await settled(next, sent(next, "left over"))).toEqual({ is: "confirmed", by: "hook" });
  expect(one.taken()).toEqual(["left over"]);
});

test.each([
  ["that the daemon before it may have sent", false],
  ["that the agent was started with and sends itself", true],
])("[TERMINAL-31] a daemon does not immediately press Enter on a prompt in the line %s", async (_, asArgument) => {
  await using world = new TmuxWorld();
  const opens = join(world.directory, "open");
  const one = await composer(world, { ...hooked, COMPOSER_OPENS: opens }, known);
  world.tmux("send-keys", "-t", "=worker-project-t-1:", "-l", "sent once");
  world.tmux("send-keys", "-t", "=worker-project-t-1:", "Enter");
  await until("the text", async () => (await one.runtime.capture(one.session, 50)).includes("sent once"));
  const next = { ...one, runtime: world.open({ sendTimes: patient }) };
  const what = sent(next, "sent once", { asArgument, sentAt: Date.now() - 3_600_000 });
  expect(await next.runtime.confirm(next.session, what, { finish: true })).toMatchObject({ is: "waiting" });
  writeFileSync(opens, "");
  expect(await settled(next, what)).toEqual({ is: "confirmed", by: "hook" });
  expect(one.taken()).toEqual(["sent once"]);
});

test("[TERMINAL-31] a prompt in the line is not confirmed by the same one before it in the transcript", async () => {
  await using world = new TmuxWorld();
  const readPrompts = (): string[] => ["the same"];
  const one = await composer(world, hooked, { ...known, readPrompts });
  world.tmux("send-keys", "-t", "=worker-project-t-1:", "-l", "the same");
  await until("the text", async () => (await one.runtime.capture(one.session, 50)).includes("the same"));
  const what = sent(one, "the same", { sentAt: Date.now() - 10_000 });
  expect(await one.runtime.confirm(one.session, what, { finish: false })).toMatchObject({ is: "doubtful" });
  expect(await settled(one, what)).toEqual({ is: "confirmed", by: "hook" });
  expect(one.taken()).toEqual(["the same"]);
});

test("[TERMINAL-31] a prompt that seems to be in the line under a dialog is in the conversation, and the transcript confirms it", async () => {
  await using world = new TmuxWorld();
  const readPrompts = (): string[] => ["shown above"];
  const asks = { where: "title", pattern: /^asks/, activity: "needs_input", reason: "It asks" } as const;
  const one = await composer(world, hooked, { ...known, screenRules: [asks], readPrompts });
  world.tmux("send-keys", "-t", "=worker-project-t-1:", "-l", "shown above");
  await until("the text", async () => (await one.runtime.capture(one.session, 50)).includes("shown above"));
  world.tmux("select-pane", "-t", "=worker-project-t-1:", "-T", "asks");
  const what = sent(one, "shown above", { sentAt: Date.now() - 10_000 });
  expect(await one.runtime.confirm(one.session, what, { finish: true })).toEqual({ is: "confirmed", by: "transcript" });
  expect(one.taken()).toEqual([]);
});

test.each([
  ["the paste", "paste-buffer", false],
  ["Enter", "send-keys", false],
  ["the look behind Enter", "list-panes", true],
])("[TERMINAL-35] a prompt is settled later if tmux does not respond %s", async (_, call, isBehindEnter) => {
  await using world = new TmuxWorld();
  // Carries out the call that the file `lost` names, and says that it failed.
  const [bin, lost, armed] = ["bin", "lost", "armed"].map((name) => join(world.directory, name));
  const script = [
    "#!/bin/sh",
    `PATH=\${PATH#*:}`,
    `call=$(cat ${lost} 2>/dev/null || echo none)`,
    `case "$*" in *"$call"*) rm ${lost}; tmux "$@" >/dev/null 2>&1; echo "lost server" >&2; exit 1 ;; esac`,
    `case "$*" in *Enter) [ ! -e ${armed} ] || mv ${armed} ${lost} ;; esac`,
    'exec tmux "$@"',
  ];
  mkdirSync(bin!);
  writeFileSync(join(bin!, "tmux"), `${script.join("\n")}\n`, { mode: 0o755 });
  // An Enter that becomes a line break: nothing confirms the prompt yet.
  const one = await composer(world, { ...hooked, ...(isBehindEnter ? { COMPOSER_ENTERS: "1" } : {}) }, known);
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}` };
  const runtime = world.open({ sendTimes: patient, env });
  const begin = (): Promise<boolean> => {
    writeFileSync(isBehindEnter ? armed! : lost!, call);
    return Promise.resolve(true);
  };
  const result = await runtime.send(one.session, prompt("hello"), { begin, wanted: () => true });
  expect(result).toMatchObject({ sent: "pending" });
  expect(await settled({ ...one, runtime }, sent(one, "hello"))).toEqual({ is: "confirmed", by: "hook" });
  expect(one.taken().map((text) => text.trim())).toEqual(["hello"]);
});

test.each([
  ["shows its input line", known],
  ["tells by a hook that it has begun", { hookRules: known.hookRules, confirmMs: 1 }],
])(
  "[SESSION-46] a prompt that an agent was started with waits until it %s, also when it is stopped",
  async (_, over) => {
    await using world = new TmuxWorld();
    const gate = join(world.directory, "gate");
    const one = await composer(world, { ...hooked, COMPOSER_GATE: gate }, over, patient, anything);
    const long = sent(one, "hello", { asArgument: true, sentAt: Date.now() - 3_600_000 });
    const waits = { is: "waiting", why: "agent is starting" };
    expect(await one.runtime.confirm(one.session, long, { finish: true })).toEqual(waits);
    expect(await one.runtime.confirm(one.session, long, { finish: false })).toEqual(waits);
  },
);

test("[TERMINAL-36] a prompt of which nothing can be typed is refused, and one of frames and bars is not", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world, hooked, known);
  const refused = { sent: "refused", why: "the prompt is empty" };
  for (const text of [" \n", "\u0007"]) expect(await runtime.send(session, prompt(text))).toEqual(refused);
  expect(await runtime.send(session, prompt("|"))).toEqual({ sent: "seen", by: "hook" });
  expect(taken()).toEqual(["|"]);
});

test.each([
  ["confirms", hooked, { hookRules: known.hookRules }, "hook"],
  ["confirms nothing", {}, {}, "screen"],
])(
  "[TERMINAL-37] text that a daemon left before the cursor of an agent that %s is sent first",
  async (_, env, over, by) => {
    await using world = new TmuxWorld();
    const one = await composer(world, { ...env, COMPOSER_CURSOR: "1" }, over);
    world.tmux("send-keys", "-t", "=worker-project-t-1:", "-l", "left over");
    await until("the text", async () => (await one.runtime.capture(one.session, 50)).includes("left over"));
    const next = { ...one, runtime: world.open({ sendTimes: patient }) };
    expect(await settled(next, sent(next, "left over"))).toEqual({ is: "confirmed", by });
    expect(await next.runtime.send(next.session, prompt("next"))).toMatchObject({ sent: "seen" });
    expect(one.taken()).toEqual(["left over", "next"]);
  },
);

test("[SESSION-46] a prompt that an agent without hooks had read before it ended is in its transcript", async () => {
  await using world = new TmuxWorld();
  const one = await composer(world, {}, { ...known, readPrompts: () => ["read"] });
  const { run } = one.session;
  if (run.run === "up" && run.agent !== null) process.kill(run.agent.pid, "SIGKILL");
  const dead = (): boolean => world.tmux("list-panes", "-a", "-F", "#{pane_dead}").includes("1");
  await until("the pane to be dead", dead);
  const next = world.open();
  const what = sent(one, "read", { asArgument: true });
  expect(await next.confirm(one.session, what, { finish: false })).toEqual({ is: "confirmed", by: "transcript" });
  expect(await next.confirm(one.session, { ...what, text: "not read" }, { finish: false })).toEqual({ is: "gone" });
});

test("[TERMINAL-31] a prompt that is nowhere to be seen is doubtful, and not typed again", async () => {
  await using world = new TmuxWorld();
  const one = await composer(world, hooked, known);
  expect(await settled(one, sent(one, "hello"))).toMatchObject({ is: "doubtful" });
  expect(one.taken()).toEqual([]);
});

test("[TERMINAL-32] the agent's own commands are typed and never confirmed; a prompt that ends in @word gets a blank", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world, hooked, known);
  expect(await runtime.send(session, prompt("/clear"))).toEqual({ sent: "seen", by: "screen" });
  expect(await runtime.send(session, prompt("see @file"))).toEqual({ sent: "seen", by: "hook" });
  expect(taken()).toEqual(["/clear", "see @file "]);
});

test("[TERMINAL-31] a prompt that looks like an agent's list is sent, and so is the next one", async () => {
  await using world = new TmuxWorld();
  const lists = {
    ...known,
    input: { ...known.input, choices: /^ \d\. / },
    screenRules: [{ where: "screen", pattern: /│ > \d\. /, activity: "needs_input", reason: "It asks to choose" }],
  } satisfies Partial<TerminalAgent>;
  const { runtime, session, taken } = await composer(world, { ...hooked, COMPOSER_ENTERS: "1" }, lists);
  const text = "1. first\n\n2. second";
  expect(await runtime.send(session, prompt(text))).toEqual({ sent: "seen", by: "hook" });
  expect(await delivered({ runtime, session }, "!ls")).toMatchObject({ sent: "seen" });
  expect(taken().map((one) => one.trim())).toEqual([text, "!ls"]);
});

test("[TERMINAL-33] a prompt that a busy agent queues waits until the agent sends it", async () => {
  await using world = new TmuxWorld();
  const keeps = join(world.directory, "free");
  const one = await composer(world, { ...hooked, COMPOSER_KEEPS: keeps }, known, { ...patient, hookMs: 200 });
  const { runtime, session } = one;
  expect(await runtime.send(session, prompt("later"))).toMatchObject({ sent: "pending" });
  const long = sent(one, "later", { sentAt: Date.now() - 3_600_000 });
  const waits = { is: "waiting", why: "the agent keeps it until its turn is over" };
  await until("it to be kept", async () => (await runtime.capture(session, 50)).includes("Queued"));
  expect(await runtime.confirm(session, long, { finish: true })).toEqual(waits);
  writeFileSync(keeps, "");
  expect(await settled(one, long)).toEqual({ is: "confirmed", by: "hook" });
});

test("[TERMINAL-34] a dialog in place of the input line has a reason, and receives no key", async () => {
  await using world = new TmuxWorld();
  const dialog = join(world.directory, "dialog");
  writeFileSync(dialog, "");
  const env = { ...hooked, COMPOSER_DIALOG: dialog };
  const isDialog = (screen: string): boolean => screen.includes("Choose how");
  const { runtime, session, taken } = await composer(world, env, known, patient, isDialog);
  expect(await runtime.send(session, prompt("hello"))).toMatchObject({
    sent: "not-now",
    why: "It asks how to go on (answer it first)",
  });
  expect((await runtime.observe([session])).get(session.id)?.seen).toMatchObject({
    value: { activity: { activity: "needs_input", reason: "It asks how to go on" } },
  });
  rmSync(dialog);
  expect(await delivered({ runtime, session }, "hello")).toEqual({ sent: "seen", by: "hook" });
  expect(taken()).toEqual(["hello"]);
});

test("[AGENT-20] a stop waits until the transcript has the latest turn, and no longer than for that", async () => {
  await using world = new TmuxWorld();
  /** Of the agent's process, at each look into its transcript. */
  const states: (string | undefined)[] = [];
  const readPrompts: TerminalAgent["readPrompts"] = ({ process }) => {
    states.push(readStat(process.pid)?.state);
    // Written when it is looked for the third time.
    return states.length < 3 ? [] : ["hello"];
  };
  const { runtime, session } = await composer(world, hooked, { ...known, readPrompts });
  expect(await runtime.send(session, prompt("hello"))).toEqual({ sent: "seen", by: "hook" });
  states.length = 0;
  expect(await runtime.stop(session, { force: false, deadlineMs: 20_000 })).toMatchObject({ remaining: [] });
  // Alive at each look, and asked no more once it was there.
  expect(states).toHaveLength(3);
  expect(states.every((state) => state !== undefined && state !== "Z")).toBe(true);
});
