import { describe, expect, test } from "vitest";
import type { SessionEvent, StoredEvent } from "../contract/event.ts";
import { asPromptId } from "../contract/ids.ts";
import { makeRecap } from "./recap.ts";

const stored = (events: readonly SessionEvent[]): StoredEvent[] =>
  events.map((event, at) => ({ ...event, seq: at + 1, at: 1_000 + at }));

const admitted = (id: string, text: string): SessionEvent => ({
  type: "prompt.admitted",
  promptId: asPromptId(id),
  text,
  by: "person",
});
const started = (id: string | null): SessionEvent => ({
  type: "turn.started",
  promptId: id === null ? null : asPromptId(id),
});
const says = (text: string): SessionEvent => ({ type: "agent.text", text });
const ended = (stopReason = "end_turn", message?: string): SessionEvent => ({
  type: "turn.ended",
  stopReason,
  ...(message === undefined ? {} : { message }),
});
const tool = (toolCallId: string, fields: object): SessionEvent => ({ type: "tool.updated", toolCallId, ...fields });

/** One turn: a prompt and its answer. */
const turn = (id: string, text: string, answer: string): SessionEvent[] => [
  admitted(id, text),
  started(id),
  says(answer),
  ended(),
];

const primer = (events: readonly SessionEvent[], options?: Parameters<typeof makeRecap>[1]) =>
  makeRecap(stored(events), options);

test("[RECAP-1] prompts and text are included in order; thoughts and unsent prompts are not", () => {
  const events: SessionEvent[] = [
    admitted("p1", "Fix the test"),
    admitted("p2", "and then the docs"),
    admitted("p3", "never sent"),
    { type: "prompt.edited", promptId: asPromptId("p2"), text: "and then the manual", by: "person" },
    started("p1"),
    { type: "agent.thought", text: "secret musings" },
    says("I will "),
    says("look."),
    tool("t1", { title: "Read a.ts", status: "completed" }),
    says("Fixed."),
    ended(),
    started("p2"),
    says("Done."),
    ended("quiet"),
  ];
  expect(primer(events)).toEqual({
    turns: 2,
    omitted: 0,
    markdown: `# Earlier conversation

Your context for this conversation was lost. Here is a recap, oldest turn first, without thoughts or tool input and output.

## Turn 1

**User:** Fix the test

**Agent:** I will look.

- tool: Read a.ts

Fixed.

## Turn 2

**User:** and then the manual

**Agent:** Done.

--- End of the earlier conversation ---
`,
  });
});

test("[RECAP-1] where nothing was said there is nothing to tell", () => {
  expect(primer([])).toEqual({ markdown: "", turns: 0, omitted: 0 });
  expect(primer([admitted("p", "queued")])).toEqual({ markdown: "", turns: 0, omitted: 0 });
});

describe("tool calls", () => {
  test("[RECAP-2] a tool call is one line, whatever it was given and returned", () => {
    const bulk = "x".repeat(50_000);
    const events: SessionEvent[] = [
      admitted("p", "go"),
      started("p"),
      tool("a", { title: "Terminal", kind: "execute", status: "pending", rawInput: { command: bulk } }),
      tool("b", { title: `Write\nnotes.md`, status: "in_progress" }),
      tool("a", { title: "npm test", content: [{ type: "content", content: { type: "text", text: bulk } }] }),
      tool("a", { status: "failed", rawOutput: bulk }),
      tool("b", {
        content: [{ type: "diff", path: "src/notes.md", oldText: bulk, newText: bulk }],
        locations: [{ path: "src/notes.md" }, { path: "src/b.ts", line: 4 }],
      }),
      tool("c", { kind: "search", status: "completed", locations: ["odd", { path: 7 }] }),
      ended(),
    ];
    const { markdown } = primer(events);
    expect(markdown.split("\n").filter((line) => line.startsWith("- "))).toEqual([
      "- tool (failed): npm test",
      "- tool (in progress): Write notes.md [src/notes.md, src/b.ts]",
      "- tool: search",
    ]);
    expect(markdown).not.toContain("xxx");
  });

  test("[RECAP-2] an id that a later turn uses again is another call; one that still ran is the same", () => {
    const events: SessionEvent[] = [
      started(null),
      tool("0", { title: "first", status: "completed" }),
      tool("1", { title: "slow" }),
      ended(),
      started(null),
      tool("0", { title: "second", status: "completed" }),
      tool("1", { status: "failed" }),
      ended(),
    ];
    expect(primer(events).markdown.match(/^- .*$/gm)).toEqual([
      "- tool: first",
      "- tool (failed): slow",
      "- tool: second",
    ]);
  });

  test("[RECAP-2] a title as long as a script is cut, between characters", () => {
    const [line = ""] = primer([started(null), tool("a", { title: "🦊".repeat(500) })]).markdown.match(/^- .*$/m) ?? [];
    expect(line).toMatch(/^- tool: (🦊)+…$/u);
    expect(line.length).toBeLessThan(220);
  });
});

test("[RECAP-3] permissions, the last plan and an unusual end of a turn are included", () => {
  const options = [
    { optionId: "y", name: "Allow", kind: "allow_once" },
    { optionId: "n", name: "Reject", kind: "reject_once" },
  ];
  const events: SessionEvent[] = [
    admitted("p", "go"),
    started("p"),
    { type: "plan.updated", entries: [{ content: "old", status: "pending" }] },
    tool("t", { title: "rm -r build" }),
    { type: "permission.asked", requestId: "r1", toolCallId: "t", title: "rm -r build", options },
    { type: "permission.answered", requestId: "r1", optionId: "n", outcome: "selected", by: "person" },
    { type: "permission.asked", requestId: "r2", title: "Go on?", options },
    { type: "permission.answered", requestId: "r2", optionId: null, outcome: "cancelled", by: "cancel" },
    { type: "permission.asked", requestId: "r3", title: "Still there?", options },
    {
      type: "plan.updated",
      entries: [
        { content: "one", status: "completed" },
        { content: "two", status: "in_progress" },
        { content: "three" },
      ],
    },
    ended("error", "out of\nluck"),
    started(null),
    says("by myself"),
  ];
  const { markdown } = primer(events);
  expect(markdown).toContain(`- tool (permission: Reject): rm -r build
- permission asked: Go on?: cancelled
- permission asked: Still there?: not answered

Plan: [x] one; [~] two; [ ] three

(The turn ended with error: out of luck)`);
  expect(markdown).toContain("**Agent:** by myself\n\n(This turn did not finish.)");
});

describe("the cap", () => {
  const many = (count: number, size: number): SessionEvent[] =>
    Array.from({ length: count }, (_, at) => turn(`p${at}`, `prompt ${at + 1}.`, "y".repeat(size))).flat();

  test("[RECAP-4] at most twenty turns, the newest, and the omission is said", () => {
    const { markdown, turns, omitted } = primer(many(30, 10));
    expect([turns, omitted]).toEqual([20, 10]);
    expect(markdown).toContain(" 10 earlier turns are left out.");
    expect(markdown.match(/prompt \d+\./g)).toEqual(Array.from({ length: 20 }, (_, at) => `prompt ${at + 11}.`));
  });

  test("[RECAP-4] whole turns from the newest back, never more than the characters allowed", () => {
    for (const size of [100, 1_000, 1_149, 3_000, 11_000, 23_000]) {
      const { markdown, turns, omitted } = primer(many(21, size));
      expect(markdown.length).toBeLessThanOrEqual(24_000);
      expect(turns + omitted).toBe(21);
      expect(
        markdown
          .match(/y+/g)
          ?.filter((word) => word.length > 1)
          .map((word) => word.length),
      ).toEqual(Array.from({ length: turns }, () => size));
      expect(markdown).toContain("prompt 21.");
      // One more would not have fitted.
      const [last = ""] = /## Turn 21[^]*(?=\n\n---)/.exec(markdown) ?? [];
      expect(turns === 20 || markdown.length + last.length + 2 > 24_000).toBe(true);
    }
  });

  test("[RECAP-4] an old turn that is too long ends the recap: nothing older is included without it", () => {
    const events = [
      ...turn("a", "the first one", "x"),
      ...turn("b", "too long", "y".repeat(30_000)),
      ...turn("c", "last", "z"),
    ];
    const { markdown, turns, omitted } = primer(events);
    expect([turns, omitted]).toEqual([1, 2]);
    expect(markdown).not.toContain("the first one");
  });

  test("[RECAP-6] the newest turn is cut in its middle, and says so, rather than left out", () => {
    const { markdown, turns } = primer(turn("a", "what I want", `${"🦊".repeat(30_000)} how it ended`));
    expect(turns).toBe(1);
    expect(markdown.length).toBeLessThanOrEqual(24_000);
    expect(markdown.length).toBeGreaterThan(23_950);
    expect(markdown).toContain("what I want");
    expect(markdown).toContain("how it ended");
    expect(markdown).toContain("cut here");
    expect(markdown.isWellFormed()).toBe(true);
  });
});

test("[RECAP-7] a recap that was sent is not repeated inside the next one", () => {
  const first = primer(turn("a", "begin", "begun")).markdown;
  const events: SessionEvent[] = [
    ...turn("a", "begin", "begun"),
    { type: "context.reset", reason: "the agent forgot", previous: "s1" },
    ...turn("b", `${first}\nGo on.`, "going on"),
    { type: "context.reset", reason: "again", previous: "s2" },
  ];
  const { markdown, turns } = primer(events);
  expect(turns).toBe(2);
  expect(markdown.match(/# Earlier conversation/g)).toHaveLength(1);
  expect(markdown).toContain("(The context was reset here: the agent forgot)\n\n**User:** Go on.");
  expect(markdown).not.toContain("again");
});
