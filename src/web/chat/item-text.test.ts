import { expect, test } from "vitest";
import type { SessionEvent } from "../../contract/event.ts";
import { asPromptId } from "../../contract/ids.ts";
import { transcriptOf } from "../../model/transcript/builder.ts";
import { markdownOf, textOf } from "./item-text.ts";
import { TranscriptSearch } from "./search.ts";
import { partsOf } from "./tool-parts.ts";

const promptId = asPromptId("p");
const events: SessionEvent[] = [
  { type: "prompt.admitted", promptId, text: "do it", by: "person" },
  { type: "prompt.sent", promptId, seenBy: "in" },
  { type: "turn.started", promptId },
  { type: "agent.thought", text: "hm\nso" },
  { type: "agent.text", text: "First **words** ```" },
  {
    type: "tool.updated",
    toolCallId: "t",
    title: "Run it",
    status: "failed",
    rawInput: { command: ["ls", "-l"] },
    rawOutput: { exitCode: 2 },
    locations: [{ path: "/w/a.ts", line: 3 }, { path: "/w/a.ts", line: 3 }, "junk"],
    content: [
      { type: "content", content: { type: "text", text: "```sh\nout\u001b[1mput\n```" } },
      { type: "diff", path: "a.ts", oldText: "x\n", newText: "y\n" },
      { type: "unheard-of" },
    ],
  },
  {
    type: "permission.asked",
    requestId: "r",
    title: "May I?",
    options: [{ optionId: "y", name: "Yes", kind: "allow_once" }],
  },
  { type: "permission.answered", requestId: "r", optionId: "y", outcome: "selected", by: "session:ma-2" },
  { type: "turn.ended", stopReason: "max_tokens" },
];
const { items } = transcriptOf(events.map((event, n) => ({ ...event, seq: n + 1, at: 0 })));

test("[WEB-55] a tool call's parts are found in any agent's format", () => {
  const tool = items.find((item) => item.item === "tool")!;
  expect(partsOf(tool)).toEqual({
    command: "ls -l",
    output: "output",
    diffs: [{ path: "a.ts", before: "x\n", after: "y\n" }],
    paths: ["/w/a.ts:3"],
    exitCode: 2,
    signal: null,
    input: null,
  });
});

test("[WEB-68] the export has prompts, thoughts, answers, tools, permission requests and ends as Markdown", () => {
  const text = markdownOf("A title", items);
  expect(text).toContain("# A title\n\n## Prompt (1970-01-01T00:00:00.000Z, by you)\n\ndo it\n\n> hm\n> so\n\nFirst");
  expect(text).toContain(
    "**Tool:** Run it (exit 2)\n\n```sh\nls -l\n```\n\n- /w/a.ts:3\n\n```\noutput\n```\n\n```diff\na.ts\n-x\n+y\n```",
  );
  expect(text).toContain("**Asked:** May I? (Yes by session ma-2)");
  expect(text).toContain("*The answer was cut at the model's token limit.*");
});

test("[WEB-67] matches are counted in every item, ignoring case, and again only in changed items", () => {
  const search = new TranscriptSearch("OUT");
  expect(search.find(items)).toHaveLength(1);
  expect(new TranscriptSearch("").find(items)).toEqual([]);
  const more = [...items, { ...items[0]!, seq: 99, key: "99", text: "out, out!" } as (typeof items)[number]];
  expect(search.find(more).slice(-2)).toEqual([
    { seq: 99, nth: 0 },
    { seq: 99, nth: 1 },
  ]);
  expect(textOf(more.at(-1)!)).toBe("out, out!");
});
