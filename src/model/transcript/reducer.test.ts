import { describe, expect, test } from "vitest";
import type { SessionEvent, StoredEvent } from "../../contract/event.ts";
import { asLaunchId, asPromptId } from "../../contract/ids.ts";
import { maxItemText } from "./reducer.ts";
import type { TranscriptItem } from "../../contract/transcript.ts";
import { referred } from "./state.ts";
import { TranscriptBuilder, transcriptOf } from "./builder.ts";

const p1 = asPromptId("p1");
const p2 = asPromptId("p2");
const launch = asLaunchId("l1");
const admitted = (promptId: typeof p1, text = "go"): SessionEvent => ({
  type: "prompt.admitted",
  promptId,
  text,
  by: "person",
});
const sent = (promptId: typeof p1): SessionEvent => ({ type: "prompt.sent", promptId, seenBy: "in" });
const started = (promptId: typeof p1 | null): SessionEvent => ({ type: "turn.started", promptId });
const ended: SessionEvent = { type: "turn.ended", stopReason: "end_turn" };
const text = (words: string, messageId?: string): SessionEvent => ({
  type: "agent.text",
  text: words,
  ...(messageId === undefined ? {} : { messageId }),
});
const tool = (toolCallId: string, more: object = {}): SessionEvent => ({ type: "tool.updated", toolCallId, ...more });
const asked: SessionEvent = { type: "permission.asked", requestId: "r1", title: "rm", options: [] };

const stored = (events: SessionEvent[]): StoredEvent[] =>
  events.map((event, index) => ({ ...event, seq: index + 1, at: 1000 * (index + 1) }));
const read = (events: SessionEvent[]) => transcriptOf(stored(events));
const shapes = (items: readonly TranscriptItem[]) => items.map(({ item, seq }) => `${item}@${seq}`);

describe("words", () => {
  test("[TRANSCRIPT-1] words that follow each other are one item, apart by message and by what comes between", () => {
    const { items } = read([text("a"), text("b"), text("c", "m"), text("d", "m"), tool("t"), text("e", "m")]);
    expect(items.map((item) => (item.item === "text" ? item.text : item.item))).toEqual(["ab", "cd", "tool", "e"]);
    const thoughts = read([
      { type: "agent.thought", text: "x" },
      { type: "agent.thought", text: "y" },
      text("z"),
    ]).items;
    expect(thoughts).toMatchObject([
      { item: "thought", text: "xy" },
      { item: "text", text: "z" },
    ]);
  });

  test("[TRANSCRIPT-1] words beyond the bound of an item go on in another one, and none is lost", () => {
    const half = "x".repeat(maxItemText / 2 + 1);
    const { items } = read([text(half), text(half), text("y")]);
    expect(items).toMatchObject([{ continued: false }, { continued: true }]);
    expect(items.map((item) => (item.item === "text" ? item.text : "")).join("")).toBe(`${half}${half}y`);
  });

  test("[TRANSCRIPT-1] what does not concern the reader does not part words", () => {
    expect(read([text("a"), { type: "usage.updated", usage: { used: 1 } }, text("b")]).items).toHaveLength(1);
  });
});

describe("prompts", () => {
  test("[TRANSCRIPT-2] a prompt waits beside the items and gets its place when it is sent", () => {
    const events = [admitted(p1), sent(p1), started(p1), text("one"), admitted(p2, "later"), text("two"), ended];
    const waiting = read(events);
    expect(waiting.queue).toMatchObject([{ promptId: p2, state: "queued", text: "later" }]);
    expect(shapes(waiting.items)).toEqual(["prompt@2", "text@4", "turn-end@7"]);
    const after = read([...events, { type: "prompt.edited", promptId: p2, text: "new", by: "person" }, sent(p2)]);
    expect(after.queue).toEqual([]);
    expect(after.items.at(-1)).toMatchObject({
      item: "prompt",
      key: "prompt:p2",
      text: "new",
      edited: true,
      state: "sent",
    });
  });

  test("[TRANSCRIPT-2] a prompt that goes back waits first; one that is withdrawn, doubtful or refused says so", () => {
    const back = read([
      admitted(p1),
      admitted(p2),
      sent(p1),
      { type: "prompt.requeued", promptId: p1, reason: "died" },
    ]);
    expect(back.items).toEqual([]);
    expect(back.queue).toMatchObject([{ promptId: p1, reason: "died", state: "queued" }, { promptId: p2 }]);
    const moved = read([admitted(p1), admitted(p2), { type: "prompt.moved", promptId: p2, position: 0, by: "person" }]);
    expect(moved.queue.map(({ promptId }) => promptId)).toEqual([p2, p1]);
    const { items } = read([
      admitted(p1),
      { type: "prompt.sending", promptId: p1, launch },
      { type: "prompt.doubtful", promptId: p1, reason: "unseen" },
      admitted(p2),
      { type: "prompt.withdrawn", promptId: p2, by: "person" },
    ]);
    expect(items).toMatchObject([{ state: "doubtful", reason: "unseen", seq: 2 }, { state: "withdrawn" }]);
    const refused = read([admitted(p1), { type: "prompt.refused", promptId: p1, reason: "no images" }]);
    expect(refused).toMatchObject({ queue: [], items: [{ state: "refused", reason: "no images" }] });
  });
});

describe("tools and questions", () => {
  test("[TRANSCRIPT-3] a tool call is one item where it began, merged by its id; a used id of an earlier turn is another call", () => {
    const { items } = read([
      started(p1),
      tool("t", { title: "ls", kind: "execute", status: "pending", rawInput: { a: 1 } }),
      text("…"),
      tool("t", { status: "completed", rawOutput: "out" }),
      ended,
      started(p2),
      tool("t", { title: "again" }),
    ]);
    expect(shapes(items)).toEqual(["tool@2", "text@3", "turn-end@5", "tool@7"]);
    expect(items[0]).toMatchObject({ title: "ls", status: "completed", rawInput: { a: 1 }, rawOutput: "out" });
    expect(items[0]).toMatchObject({ whole: { rawInput: 2, rawOutput: 4 }, abandoned: false });
  });

  test("[TRANSCRIPT-3] a call whose turn ended first is abandoned until its next update", () => {
    const events = [started(p1), tool("t", { status: "in_progress" }), ended];
    expect(read(events).items[0]).toMatchObject({ status: "in_progress", abandoned: true });
    expect(read([...events, tool("t", { status: "completed" })]).items[0]).toMatchObject({ abandoned: false });
  });

  test("[TRANSCRIPT-3] the newest hundred finished calls of a turn can still be updated, and every running one", () => {
    const builder = new TranscriptBuilder();
    const calls = Array.from({ length: 1_000 }, (_, n) => tool(`t${n}`, { status: n === 0 ? "pending" : "completed" }));
    for (const event of stored([started(p1), ...calls])) builder.push(event);
    expect(builder.saved().refs.tools.length).toBeLessThanOrEqual(101);
    const late = ["t0", "t950", "t500"].map((id) => tool(id, { title: "late" }));
    for (const event of stored([started(p1), ...calls, ...late, ended]).slice(1 + calls.length)) builder.push(event);
    const { items } = builder.transcript();
    expect(items[0]).toMatchObject({ toolCallId: "t0", title: "late", abandoned: true });
    expect(items[950]).toMatchObject({ toolCallId: "t950", title: "late" });
    expect(shapes(items.slice(1_000))).toEqual(["tool@1004", "turn-end@1005"]);
  });

  test("[TRANSCRIPT-4] a question has its answer; with its turn or its agent it is closed, but not by a forced end", () => {
    const answered: SessionEvent = {
      type: "permission.answered",
      requestId: "r1",
      optionId: "yes",
      outcome: "selected",
      by: "person",
    };
    expect(read([asked, answered]).items).toMatchObject([{ open: false, answer: { optionId: "yes", by: "person" } }]);
    expect(read([asked, ended]).items[0]).toMatchObject({ open: false, answer: null });
    expect(read([asked, { type: "turn.ended", stopReason: "forced" }]).items[0]).toMatchObject({ open: true });
  });
});

describe("head", () => {
  test("[TRANSCRIPT-5] turn, plan, usage and what was picked are as the last events say", () => {
    const events: SessionEvent[] = [
      {
        type: "chat.opened",
        launch,
        agentSessionId: "a",
        how: "new",
        modes: { currentModeId: "ask", availableModes: [] },
        models: null,
        configOptions: null,
        commands: null,
      },
      { type: "mode.changed", mode: "code", by: "person" },
      started(p1),
      { type: "plan.updated", entries: [{ content: "x" }] },
      { type: "turn.cancelling", by: "person" },
      { type: "output.damaged", what: "torn", bytes: 3 },
    ];
    const open = read(events);
    expect(open.modes).toEqual({ currentModeId: "code", availableModes: [] });
    expect(open.turn).toEqual({ open: true, promptId: p1, startedAt: 3000, cancelling: true, answerMayBeLost: true });
    expect(open.plan).toHaveLength(1);
    expect(read([...events, ended]).turn).toMatchObject({ open: false });
  });

  test("[TRANSCRIPT-6] the recap is offered once after a reset: the next prompt or a dismissal ends it", () => {
    const reset: SessionEvent = { type: "context.reset", reason: "lost", previous: "a" };
    expect(read([]).primerUsed).toBe(true);
    expect(read([admitted(p1), reset])).toMatchObject({ primerUsed: false, lastReset: { seq: 2, reason: "lost" } });
    expect(read([reset, admitted(p1)]).primerUsed).toBe(true);
    expect(read([reset, { type: "primer.dismissed", by: "person" }]).primerUsed).toBe(true);
    expect(read([reset, admitted(p1), reset]).primerUsed).toBe(false);
  });

  test("[TRANSCRIPT-6] a launch that failed because the conversation is gone says so: the reset tells the rest", () => {
    const failed: SessionEvent[] = [
      { type: "launch.started", launch, how: "resume", attempt: 1 },
      { type: "launch.failed", launch, reason: "not found", lastLines: [] },
    ];
    const reset: SessionEvent = { type: "context.reset", reason: "lost", previous: "a" };
    expect(read(failed).items[0]).not.toHaveProperty("conversationGone");
    expect(read([...failed, reset]).items).toMatchObject([
      { item: "launch", conversationGone: true },
      { item: "reset" },
    ]);
    const up: SessionEvent = { type: "launch.up", launch, agent: null };
    expect(read([failed[0]!, up, reset]).items[0]).not.toHaveProperty("conversationGone");
  });
});

describe("the fold itself", () => {
  const life = stored([
    { type: "launch.started", launch, how: "fresh", attempt: 1 },
    { type: "launch.up", launch, agent: null },
    ...Array.from({ length: 40 }, (_, turn): SessionEvent[] => [
      admitted(asPromptId(`p${turn}`)),
      ...(turn % 7 === 0
        ? [{ type: "prompt.requeued" as const, promptId: asPromptId(`p${turn - 1}`), reason: "r" }]
        : []),
      sent(asPromptId(`p${turn}`)),
      started(asPromptId(`p${turn}`)),
      text("a"),
      text("b", turn % 2 === 0 ? "m" : undefined),
      tool(`t${turn % 5}`, { status: "pending", content: ["x"] }),
      { type: "permission.asked", requestId: `r${turn}`, title: "?", options: [] },
      { type: "permission.answered", requestId: `r${turn}`, optionId: "y", outcome: "selected", by: "person" },
      tool(`t${turn % 5}`, turn % 3 === 0 ? { status: "completed" } : { rawOutput: turn }),
      ended,
      ...(turn % 11 === 0 ? [{ type: "context.reset" as const, reason: "lost", previous: null }] : []),
    ]).flat(),
    { type: "run.ended", launch, how: "crash", exit: null, uptimeMs: 1, lastLines: [] },
  ]);

  test("[TRANSCRIPT-11] a fold that is saved anywhere and taken up with only the items it refers to gives the same transcript", () => {
    const whole = transcriptOf(life);
    for (let cut = 0; cut <= life.length; cut += 3) {
      const rows = new Map<number, TranscriptItem>();
      let builder = new TranscriptBuilder();
      const run = (events: StoredEvent[]): void => {
        for (const event of events) {
          const { changed, removed } = builder.push(event);
          for (const seq of removed) rows.delete(seq);
          for (const seq of changed) rows.set(seq, builder.item(seq)!);
        }
      };
      run(life.slice(0, cut));
      const saved = structuredClone(builder.saved());
      builder = new TranscriptBuilder(
        saved,
        referred(saved.refs).map((seq) => structuredClone(rows.get(seq)!)),
      );
      run(life.slice(cut));
      builder.forgetSettled();
      expect({ ...builder.saved().head, items: [...rows.values()].toSorted((a, b) => a.seq - b.seq) }).toEqual(whole);
    }
  });

  test("[TRANSCRIPT-11] unchanged items are the same objects, and repeated events change nothing", () => {
    const builder = new TranscriptBuilder();
    for (const event of life) builder.push(event);
    const before = builder.transcript();
    expect(builder.push(life.at(-1)!)).toEqual({ changed: [], removed: [], head: false });
    expect(builder.transcript()).toBe(before);
    const change = builder.push({ seq: life.length + 1, at: "2026-01-01T00:00:00.000Z", type: "notice" });
    expect(change.changed).toEqual([life.length + 1]);
    const after = builder.transcript();
    expect(after.items.at(-1)?.at).toBe(Date.UTC(2026, 0, 1));
    expect(after.items.slice(0, -1).every((item, index) => item === before.items[index])).toBe(true);
  });

  test("[TRANSCRIPT-11] the few items that a fold has to keep do not grow with the transcript", () => {
    const builder = new TranscriptBuilder();
    for (const event of life) builder.push(event);
    builder.forgetSettled();
    expect(builder.transcript().items.length).toBeLessThan(20);
  });
});
