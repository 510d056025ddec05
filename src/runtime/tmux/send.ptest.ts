import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { program, TmuxWorld } from "../../../test/agents/tmux-world.ts";
import { until } from "../../../test/harness/until.ts";
import type { TerminalAgent } from "../../ports/agents.ts";
import type { Runtime } from "../../ports/runtime.ts";
import { asPromptId } from "../../protocol/ids.ts";
import type { SessionState } from "../../protocol/session.ts";
import type { SendTimes } from "./send.ts";

const prompt = (text: string): { promptId: ReturnType<typeof asPromptId>; text: string } => ({
  promptId: asPromptId("p"),
  text,
});

interface Composer {
  world: TmuxWorld;
  runtime: Runtime;
  session: SessionState;
  /** What the agent took as prompts. */
  taken: () => string[];
}

/** For what arrives: a busy machine shows it late. */
const patient: SendTimes = { arriveMs: 20_000, hookMs: 20_000, reactMs: 20_000 };
/** For what never does. */
const hasty: SendTimes = { arriveMs: 1000, hookMs: 1000, reactMs: 1000 };

async function composer(
  world: TmuxWorld,
  env: Record<string, string> = {},
  over: Partial<TerminalAgent> = {},
  sendTimes = patient,
): Promise<Composer> {
  const runtime = world.open({ sendTimes });
  const log = join(world.directory, "taken");
  const planned = world.sessionOf({
    start: program("prints-a-composer.ts"),
    env: { COMPOSER_LOG: log, ...env },
    ...over,
  });
  const { session } = await world.up(runtime, planned);
  await until("the composer", async () => (await runtime.capture(session, 50)).includes("╭─"));
  const taken = (): string[] =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => JSON.parse(line) as string)
      : [];
  return { world, runtime, session, taken };
}

test("[TMUX-3] prompts with ; quotes, line breaks, unicode, tabs and formats arrive byte for byte", async () => {
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

test("[TMUX-3] a prompt cannot press keys or end its own paste", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world);
  expect(await runtime.send(session, prompt("a\u001b[201~\rb\u0003c"))).toMatchObject({ sent: "seen" });
  expect(taken()).toEqual(["a[201~\nbc"]);
});

test("[AGENT-11] an agent that takes a quick Enter for part of the paste gets it later", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world, { COMPOSER_GUARD: "150" }, { pasteGuardMs: 200 });
  expect(await runtime.send(session, prompt("hello"))).toMatchObject({ sent: "seen" });
  expect(taken()).toEqual(["hello"]);
});

test("[TMUX-3] copy mode is left first", async () => {
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
])("[TMUX-3] %s arrive whole, also where the agent shows a placeholder", async (_, size) => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world, { COMPOSER_PLACEHOLDER: "1" });
  const text = Array.from({ length: Math.ceil(size / 64) }, (_, index) => `${index}`.padEnd(63, "ä;")).join("\n");
  expect(await runtime.send(session, prompt(text))).toMatchObject({ sent: "seen" });
  expect(taken()).toEqual([text]);
});

test("[TMUX-11] delivery is confirmed by the agent's own hook where it has one", async () => {
  await using world = new TmuxWorld();
  const rule = {
    event: "UserPromptSubmit",
    activity: "working",
    idField: "session_id",
    promptField: "prompt",
  } as const;
  const { runtime, session } = await composer(world, { COMPOSER_HOOKS: "{hooks}/hooks.jsonl" }, { hookRules: [rule] });
  expect(await runtime.send(session, prompt("two\nlines"))).toEqual({ sent: "seen", by: "hook" });
});

test("[TMUX-3] two prompts at once do not mix, and the same prompt twice is two prompts", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world);
  const texts = ["first of two", "second of two", "second of two"];
  await Promise.all(texts.map((text) => runtime.send(session, prompt(text))));
  expect(taken()).toEqual(texts);
});

test("[TMUX-19] text that is not seen to arrive is doubtful, and Enter is not pressed on it", async () => {
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

test("[TMUX-19] a question that opens while the text is typed is not answered with Enter", async () => {
  await using world = new TmuxWorld();
  const { runtime, session, taken } = await composer(world, { COMPOSER_ASKS: "1" }, asks);
  expect(await runtime.send(session, prompt("hello"))).toMatchObject({
    sent: "doubtful",
    why: expect.stringContaining("question"),
  });
  expect(taken()).toEqual([]);
});

test("[TMUX-19] an open question is never typed into", async () => {
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
