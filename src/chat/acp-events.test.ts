import { describe, expect, test } from "vitest";
import { settingKey } from "../contract/acp.ts";
import type { SessionEvent } from "../contract/event.ts";
import { asLaunchId, asPromptId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import { mapOutput } from "./acp-events.ts";
import type { OutputContext, OutputItem } from "../model/acp.ts";
import { created, fold, ready } from "../supervisor/facts.fixture.ts";

const launch = asLaunchId("l-1");
const prompt = asPromptId("p-1");
const start: SessionEvent[] = [
  { ...created, kind: "chat" },
  ready,
  { type: "launch.started", launch, how: "fresh", attempt: 1 },
  { type: "launch.up", launch, agent: null },
  { type: "conversation.pinned", agentSessionId: "s-1" },
];
const turn: SessionEvent = { type: "turn.started", promptId: prompt };
const idle = fold(start);
const working = fold([...start, turn]);

function map(items: OutputItem[], state: SessionState = working, over: Partial<OutputContext> = {}) {
  return mapOutput(items, { state, launch, replayFilter: null, inEnd: 0, replayEnds: "answer", ...over });
}
const message = (fields: object): OutputItem => ({ item: "message", message: { jsonrpc: "2.0", ...fields } });
const update = (fields: object, sessionId = "s-1"): OutputItem =>
  message({ method: "session/update", params: { sessionId, update: fields } });
const text = (words: string, more: object = {}): OutputItem =>
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: words }, ...more });
const thought = (words: string): OutputItem =>
  update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: words } });
const answer = (key: string, fields: object): OutputItem => message({ id: `hf:${launch}:${key}`, ...fields });

test("[CHAT-64] chunks of one message in a batch are one event", () => {
  expect(
    map([text("a"), text("b"), thought("t"), thought("u"), text("c"), text("d", { messageId: "m" })]).events,
  ).toEqual([
    { type: "agent.text", text: "ab" },
    { type: "agent.thought", text: "tu" },
    { type: "agent.text", text: "c" },
    { type: "agent.text", text: "d", messageId: "m" },
  ]);
});

describe("[CHAT-65] the answer to a prompt", () => {
  test("ends its turn with the agent's stop reason, whoever sent it", () => {
    const { events, answers } = map([answer("p:p-1", { result: { stopReason: "max_tokens" } })]);
    expect(events).toEqual([{ type: "turn.ended", stopReason: "max_tokens", promptId: prompt }]);
    expect(answers).toEqual([{ key: "p:p-1", answer: '{"result":{"stopReason":"max_tokens"}}' }]);
  });
  test("with an error says what went wrong", () => {
    const error = { code: -32_603, message: "Internal error", data: { details: "no model" } };
    expect(map([answer("p:p-1", { error })]).events).toMatchObject([
      { type: "turn.ended", stopReason: "error", message: "Internal error: no model" },
    ]);
  });
  test("that came already changes nothing", () => {
    expect(map([answer("p:p-1", { result: {} }), answer("p:p-1", { result: {} })]).events).toHaveLength(1);
    expect(map([answer("p:p-1", { result: {} })], idle).events).toEqual([]);
  });
  test("of another launch or of nobody is ignored", () => {
    expect(map([message({ id: "hf:other:p:p-1", result: {} }), message({ id: 7, result: {} })])).toMatchObject({
      events: [],
      answers: [],
    });
  });
  test("of a turn that was ended by force ends only what the agent went on with by itself", () => {
    const own = map([text("more"), answer("p:p-1", { result: { stopReason: "end_turn" } })], idle);
    expect(own.events.map((event) => event.type)).toEqual(["turn.started", "agent.text", "turn.ended"]);
    const next = fold([...start, { type: "turn.started", promptId: asPromptId("p-2") }]);
    expect(map([answer("p:p-1", { result: {} })], next).events).toEqual([]);
  });
});

test("[CHAT-64] only the latest usage of a batch is reported, before the turn ends", () => {
  const usage = (used: number): OutputItem => update({ sessionUpdate: "usage_update", used });
  expect(map([usage(1), text("a"), usage(2), answer("p:p-1", { result: {} })]).events).toMatchObject([
    { type: "agent.text" },
    { type: "usage.updated", usage: { used: 2 } },
    { type: "turn.ended" },
  ]);
});

test("[CHAT-66] a tool call's updates of one batch are one event with all of their fields", () => {
  const tool = (fields: object): OutputItem =>
    update({ sessionUpdate: "tool_call_update", toolCallId: "t", ...fields });
  expect(map([tool({ title: "ls", status: "pending" }), tool({ status: "completed", rawOutput: 1 })]).events).toEqual([
    { type: "tool.updated", toolCallId: "t", title: "ls", status: "completed", rawOutput: 1 },
  ]);
});

describe("[CHAT-67] a permission request", () => {
  const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
  const ask = (id: unknown): OutputItem =>
    message({
      id,
      method: "session/request_permission",
      params: { options, toolCall: { toolCallId: "t", title: "rm" } },
    });
  test("becomes a question with a name of its own, once", () => {
    expect(map([ask(0), ask(0)]).events).toEqual([
      { type: "tool.updated", toolCallId: "t", title: "rm" },
      { type: "permission.asked", requestId: "q8", asker: { launch, id: 0 }, toolCallId: "t", title: "rm", options },
    ]);
  });
  test("is answered with cancelled when it crosses the person's cancel", () => {
    const cancelling = fold([...start, turn, { type: "turn.cancelling", by: "person" }]);
    const { events, lines } = map([ask("u-1")], cancelling);
    expect(events.at(-1)).toMatchObject({ type: "permission.answered", outcome: "cancelled" });
    expect(lines.map(({ key, text: line }) => [key, JSON.parse(line) as unknown])).toEqual([
      ['a:"u-1":0', { jsonrpc: "2.0", id: "u-1", result: { outcome: { outcome: "cancelled" } } }],
    ]);
  });
  test("of an agent that has ended is nobody's to answer", () => {
    const ended: SessionEvent = { type: "run.ended", launch, how: "crash", exit: null, uptimeMs: 0, lastLines: [] };
    expect(map([ask(0)], fold([...start, turn, ended]))).toMatchObject({ events: [], lines: [] });
  });
});

describe("[TEXT-1] [TEXT-2] a permission request gets our own id", () => {
  const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
  const ask = (id: unknown): OutputItem =>
    message({ id, method: "session/request_permission", params: { options, toolCall: { title: "rm" } } });
  const hostile = "$(touch${IFS}/tmp/x)";

  test("whatever the agent calls it, and the answer goes back under the agent's own id", () => {
    const { events } = map([ask(hostile)]);
    expect(events).toMatchObject([{ type: "permission.asked", requestId: "q7", asker: { launch, id: hostile } }]);
  });

  test("that no later question gets again, also one with the same id of the agent", () => {
    const first = map([ask(5)]).events;
    const ended: SessionEvent = { type: "turn.ended", stopReason: "end_turn", promptId: prompt };
    const later = fold([...start, turn, ...first, ended]);
    const [, second] = map([ask(5)], later).events;
    expect(second).toMatchObject({ type: "permission.asked", requestId: "q10" });
    expect(first[0]).toMatchObject({ requestId: "q7" });
  });

  test("and the same request read twice is one question, also one that an earlier build stored", () => {
    expect(map([ask(hostile), ask(hostile)]).events).toHaveLength(1);
    const old: SessionEvent = { type: "permission.asked", requestId: `${launch}:"u-1"`, title: "rm", options };
    expect(map([ask("u-1")], fold([...start, turn, old])).events).toEqual([]);
  });
});

describe("[TEXT-3] a line that cannot be mapped is damaged output", () => {
  const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
  const ask = (id: unknown): OutputItem => ({
    item: "message",
    message: { id, method: "session/request_permission", params: { options } },
    bytes: 70,
  });
  let deep: unknown = [];
  for (let n = 0; n < 200_000; n++) deep = [deep];

  test.each([
    ["an array 200,000 deep", deep],
    ["an object", {}],
    ["true", true],
    ["longer than anything that names a request", "x".repeat(2_000)],
    ["no finite number", Infinity],
  ])("an id that is %s", (_, id) => {
    const { events, lines } = map([text("a"), ask(id), text("b")]);
    expect(events).toEqual([
      { type: "agent.text", text: "a" },
      { type: "output.damaged", what: "unparsable", bytes: 70 },
      { type: "agent.text", text: "b" },
    ]);
    expect(lines).toEqual([]);
  });

  test("and one that fails leaves nothing half done", () => {
    const answered: OutputItem = {
      item: "message",
      message: { id: `hf:${launch}:p:p-1`, result: { stopReason: "end_turn", huge: 1n } },
      bytes: 9,
    };
    const { events, answers } = map([answered, text("still here")]);
    expect(events).toEqual([
      { type: "output.damaged", what: "unparsable", bytes: 9 },
      { type: "agent.text", text: "still here" },
    ]);
    expect(answers).toEqual([]);
  });
});

describe("[PERMISSION-10] a rule's answer is recorded with the question", () => {
  const options = [{ optionId: "y", name: "Yes", kind: "allow_once" }];
  const rule = { number: 2, text: 'allow tool "execute"' };
  const toolCall = { toolCallId: "t", title: "Run", rawInput: { command: "npm test" } };
  const ask = message({ id: "u", method: "session/request_permission", params: { options, toolCall } });

  test("and names the rule; the agent is answered in the same step", () => {
    const seen: unknown[] = [];
    const judge: OutputContext["judge"] = (question) => {
      seen.push(question);
      return { optionId: "y", rule };
    };
    const began = update({ sessionUpdate: "tool_call", toolCallId: "t", kind: "execute" });
    const { events, lines } = map([began, ask], working, { judge });
    expect(events.slice(1)).toMatchObject([
      { type: "permission.asked", requestId: "q8" },
      { type: "permission.answered", requestId: "q8", optionId: "y", outcome: "selected", by: "rule", rule },
    ]);
    expect(lines.map(({ text: line }) => JSON.parse(line) as unknown)).toEqual([
      { jsonrpc: "2.0", id: "u", result: { outcome: { outcome: "selected", optionId: "y" } } },
    ]);
    expect(seen).toMatchObject([
      { toolCallId: "t", updates: [{ kind: "execute", rawInput: { command: "npm test" } }] },
    ]);
  });

  test("and without one the question waits", () => {
    const { events, lines } = map([ask], working, { judge: () => null });
    expect(events.at(-1)).toMatchObject({ type: "permission.asked" });
    expect(lines).toEqual([]);
  });

  test("but never while a cancel is on its way", () => {
    const cancelling = fold([...start, turn, { type: "turn.cancelling", by: "person" }]);
    const { events } = map([ask], cancelling, { judge: () => ({ optionId: "y", rule }) });
    expect(events.at(-1)).toMatchObject({ type: "permission.answered", outcome: "cancelled" });
  });
});

test("[CHAT-68] an unknown request is refused immediately, an unknown notification ignored", () => {
  const { events, lines } = map([
    message({ id: 3, method: "fs/read_text_file" }),
    message({ method: "x/y" }),
    update({ sessionUpdate: "new" }),
  ]);
  expect(events).toEqual([]);
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!.text)).toMatchObject({ id: 3, error: { code: -32_601 } });
});

describe("[CHAT-69] replayed history", () => {
  const commands = update({ sessionUpdate: "available_commands_update", availableCommands: [{ name: "x" }] });
  test("is hidden until the load is answered", () => {
    const { events, replayFilter } = map([text("old"), answer("load", { result: {} }), text("new")], idle, {
      replayFilter: "answer",
    });
    expect(events.map((event) => event.type)).toEqual(["chat.opened", "turn.started", "agent.text"]);
    expect(replayFilter).toBeNull();
  });
  test("is hidden until the list of commands where the agent replays after its answer", () => {
    const late = { replayFilter: "answer", replayEnds: "commands" } as const;
    const mapped = map([answer("load", { result: {} }), text("old"), commands, text("new")], idle, late);
    expect(mapped.events.map((event) => event.type)).toEqual([
      "chat.opened",
      "commands.changed",
      "turn.started",
      "agent.text",
    ]);
  });
  test("ends with a load that failed", () => {
    expect(
      map([answer("load", { error: { code: -32_002 } })], idle, { replayFilter: "answer", replayEnds: "commands" })
        .replayFilter,
    ).toBeNull();
  });
});

test("[CHAT-70, DECIDE-21] an agent that continues under another id is followed", () => {
  const other = update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "a" } }, "s-2");
  expect(map([other, other]).events.map((event) => event.type)).toEqual(["conversation.pinned", "agent.text"]);
});

test("[CHAT-71] a setting is stored once the agent accepts it, and a refusal is shown", () => {
  const key = settingKey({ set: "config", id: "effort:x", value: "very high" }, "person", "n");
  expect(map([answer(key, { result: { configOptions: [] } })]).events).toEqual([
    { type: "config.changed", configOptions: [], picked: { id: "effort:x", value: "very high" }, by: "person" },
  ]);
  const mode = settingKey({ set: "mode", value: "plan" }, "person", "n");
  expect(map([answer(mode, { result: {} })]).events).toEqual([{ type: "mode.changed", mode: "plan", by: "person" }]);
  expect(map([answer(mode, { error: { code: 1, message: "no" } })]).events).toMatchObject([
    { type: "notice", level: "warn" },
  ]);
});

test("[CHAT-72] damage of one kind in one batch is one event", () => {
  const bad = { item: "damaged", what: "unparsable", bytes: 3 } as const;
  expect(map([bad, bad, text("a")]).events).toEqual([
    { type: "output.damaged", what: "unparsable", bytes: 6 },
    { type: "agent.text", text: "a" },
  ]);
});

test("[CHAT-73] nonsense in place of any field is survived", () => {
  for (const nonsense of [null, 7, "x", [], {}, [null], { type: 1 }]) {
    for (const kind of [
      "agent_message_chunk",
      "tool_call",
      "plan",
      "current_mode_update",
      "config_option_update",
      "usage_update",
    ]) {
      const fields = {
        sessionUpdate: kind,
        content: nonsense,
        entries: nonsense,
        configOptions: nonsense,
        currentModeId: nonsense,
        toolCallId: nonsense,
      };
      expect(() =>
        map([update(fields), message({ id: nonsense, method: nonsense, params: nonsense, result: nonsense })]),
      ).not.toThrow();
    }
  }
});
