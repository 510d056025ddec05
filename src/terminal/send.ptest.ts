import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { program, TmuxWorld } from "../../test/agents/tmux-world.ts";
import { until } from "../../test/harness/until.ts";
import type { TerminalAgent } from "../ports/agents.ts";
import { prompt, delivered, patient, hasty, composer, known, hooked, anything } from "./send.fixture.ts";

test("[TERMINAL-13] prompts with ; quotes, line breaks, unicode, tabs and formats arrive byte for byte", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world);
  const texts = [
    "one;",
    `"quoted" 'single' \`back\` $(touch x) #{pid} #(touch y) %H \\n`,
    "three\n\tlines\nof größe 日本語 🎉",
    "ends in a line break\n",
    "-starts like an option",
  ];
  for (const text of texts) expect(await runtime.send(session, prompt(text))).toEqual({ sent: "seen", by: "screen" });
  expect(taken()).toEqual(texts);
});

test("[TERMINAL-13] a prompt cannot press keys or end its own paste", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world);
  expect(await runtime.send(session, prompt("a\u001b[201~\rb\u0003c"))).toMatchObject({ sent: "seen" });
  expect(taken()).toEqual(["a[201~\nbc"]);
});

test("[AGENT-14] Enter is pressed later for an agent that takes a quick one for part of the paste", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world, { COMPOSER_GUARD: "150" }, { pasteGuardMs: 200 });
  expect(await runtime.send(session, prompt("hello"))).toMatchObject({ sent: "seen" });
  expect(taken()).toEqual(["hello"]);
});

test("[TERMINAL-13] copy mode is left first", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world);
  world.tmux("copy-mode", "-t", "=worker-project-t-1:");
  expect(world.tmux("list-panes", "-a", "-F", "#{pane_in_mode}")).toBe("1\n");
  expect(await runtime.send(session, prompt("hello"))).toMatchObject({ sent: "seen" });
  expect(taken()).toEqual(["hello"]);
});

test.each([
  ["20 KB of lines", 20 * 1024],
  ["1 MB", 1024 * 1024],
])("[TERMINAL-13] %s arrive intact, even if the agent shows a placeholder", async (_, size) => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world, { COMPOSER_PLACEHOLDER: "1" });
  const text = Array.from({ length: Math.ceil(size / 64) }, (_, index) => `${index}`.padEnd(63, "ä;")).join("\n");
  expect(await runtime.send(session, prompt(text))).toMatchObject({ sent: "seen" });
  expect(taken()).toEqual([text]);
});

test("[TERMINAL-20] delivery is confirmed by the agent's own hook, if it has one", async () => {
  await using world = new TmuxWorld();
  const hooked = { HOLDFAST_HOOKS: "{hooks}", COMPOSER_HOOKS: "{hooks}/hooks.jsonl" };
  const rule = {
    event: "UserPromptSubmit",
    activity: "working",
    idField: "session_id",
    promptField: "prompt",
  } as const;
  const { runtime, session } = await composer(world, hooked, { hookRules: [rule] });
  expect(await runtime.send(session, prompt("two\nlines"))).toEqual({ sent: "seen", by: "hook" });
});

test("[TERMINAL-13] two simultaneous prompts do not mix, and the same prompt twice is two prompts", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world);
  const texts = ["first of two", "second of two", "second of two"];
  await Promise.all(texts.map((text) => runtime.send(session, prompt(text))));
  expect(taken()).toEqual(texts);
});

test("[TERMINAL-28] text that is not seen to arrive is doubtful, and Enter is not pressed on it", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world, { COMPOSER_DEAF: "1" }, {}, hasty);
  expect(await runtime.send(session, prompt("hello"))).toMatchObject({
    sent: "doubtful",
    why: expect.stringContaining("not seen"),
  });
  expect(taken()).toEqual([]);
});

const asks = {
  screenRules: [{ where: "screen", pattern: /Allow this command\?/, activity: "needs_input" }],
} satisfies Partial<TerminalAgent>;

test("[TERMINAL-28] a dialog that opens while the text is typed is not answered with Enter", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world, { COMPOSER_ASKS: "1" }, asks);
  expect(await runtime.send(session, prompt("hello"))).toMatchObject({
    sent: "doubtful",
    why: expect.stringContaining("question"),
  });
  expect(taken()).toEqual([]);
});

test("[TERMINAL-28] an open dialog is never typed into", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open();
  const keys = join(world.directory, "keys");
  const { session } = await world.up(runtime, world.sessionOf({ start: program("asks-permission.sh", keys), ...asks }));
  await until("the question", async () => (await runtime.capture(session, 5)).includes("Allow") && existsSync(keys));
  expect(await runtime.send(session, prompt("y"))).toMatchObject({
    sent: "not-now",
    why: expect.stringContaining("question"),
  });
  expect(readFileSync(keys, "utf8")).toBe("");
});

test("[TERMINAL-29] nothing is typed before the agent uses raw mode and shows its empty input line", async () => {
  await using world = new TmuxWorld();
  const gate = join(world.directory, "gate");
  const env = { ...hooked, COMPOSER_GATE: gate };
  const { runtime, session, taken } = await composer(world, env, known, patient, anything);
  for (let time = 0; time < 3; time += 1) {
    expect(await runtime.send(session, prompt("early"))).toEqual({ sent: "not-now", why: "agent is starting" });
  }
  expect((await runtime.observe([session])).get(session.id)?.seen).toMatchObject({
    value: { starting: true, activity: null },
  });
  // The kernel would have echoed it.
  expect(await runtime.capture(session, 50)).toBe("");
  writeFileSync(gate, "");
  expect(await delivered({ runtime, session }, "once")).toEqual({ sent: "seen", by: "hook" });
  expect(taken()).toEqual(["once"]);
  expect((await runtime.observe([session])).get(session.id)?.seen).toMatchObject({ value: { starting: false } });
});

test("[TERMINAL-29] a terminal that echoes is not typed into, whatever the screen shows", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open({ sendTimes: patient });
  const script = "printf '╭──╮\\n│ > │\\n╰──╯\\n'; exec cat";
  const { session } = await world.up(runtime, world.sessionOf({ start: ["sh", "-c", script], ...known }));
  await until("its screen", async () => (await runtime.capture(session, 5)).includes("╰"));
  expect(await runtime.send(session, prompt("hello"))).toEqual({ sent: "not-now", why: "agent is starting" });
  expect(await runtime.capture(session, 50)).not.toContain("hello");
});

test("[TERMINAL-29] a program that reads lines, and of which nothing is known, is typed into and its prompts are never confirmed", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open({ sendTimes: patient });
  const { session } = await world.up(runtime, world.sessionOf({ start: ["cat"] }));
  expect(await runtime.send(session, prompt("hello"))).toEqual({ sent: "seen", by: "screen" });
});

test("[TERMINAL-29] a program that has not begun to read its terminal is not typed into, however long its screen is blank", async () => {
  await using world = new TmuxWorld();
  const gate = join(world.directory, "gate");
  const { runtime, session, taken } = await composer(world, { COMPOSER_GATE: gate }, {}, patient, anything);
  const begunBehindGate: boolean[] = [];
  let looks = 0;
  const typing = {
    begin: () => {
      begunBehindGate.push(existsSync(gate));
      return Promise.resolve(true);
    },
    wanted: () => {
      looks += 1;
      // Longer than a blank screen must rest.
      if (looks === 30) writeFileSync(gate, "");
      return true;
    },
  };
  // A busy machine takes longer for these looks than one call waits.
  const result = await until("it to be typed", async () => {
    const now = await runtime.send(session, prompt("early"), typing);
    return now.sent === "not-now" ? null : now;
  });
  expect([result, begunBehindGate]).toEqual([{ sent: "seen", by: "screen" }, [true]]);
  expect(taken()).toEqual(["early"]);
});

test("[TERMINAL-29] a program that switches to raw mode after the echo of a prompt leaves it unconfirmed", async () => {
  await using world = new TmuxWorld();
  const runtime = world.open({ sendTimes: patient });
  const script = "head -c 1 >/dev/null; stty raw -echo; printf drawn; exec cat >/dev/null";
  const { session } = await world.up(runtime, world.sessionOf({ start: ["sh", "-c", script] }));
  expect(await runtime.send(session, prompt("hello"))).toMatchObject({
    sent: "doubtful",
    why: expect.stringContaining("took its terminal over"),
  });
});

test("[TERMINAL-30] a pane that dies under the paste does not take the tmux server with it", async () => {
  await using world = new TmuxWorld();
  const one = await composer(world, hooked, known);
  const other = await world.up(one.runtime, world.sessionOf({ start: ["cat"] }));
  const server = world.tmux("display-message", "-p", "#{pid}");
  const begin = async (): Promise<boolean> => {
    const { run } = one.session;
    if (run.run === "up" && run.agent !== null) process.kill(run.agent.pid, "SIGKILL");
    await until("the pane to be dead", () => world.tmux("list-panes", "-a", "-F", "#{pane_dead}").includes("1"));
    return true;
  };
  const result = await one.runtime.send(one.session, prompt("hello"), { begin, wanted: () => true });
  expect(result).toEqual({ sent: "not-now", why: "the agent does not run" });
  expect(world.tmux("display-message", "-p", "#{pid}")).toBe(server);
  expect(world.tmux("list-buffers")).toBe("");
  expect((await one.runtime.observe([other.session])).get(other.session.id)?.seen).toMatchObject({
    value: { agent: { alive: true } },
  });
});
