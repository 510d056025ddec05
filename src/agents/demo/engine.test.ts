import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { DemoConversation } from "./conversation.ts";
import { replayOf } from "./engine.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "demo-kept-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("[DEMO-7] a file that is cut anywhere holds the turns before the cut, and the next turn is not lost", () => {
  const whole = DemoConversation.create(directory, "whole", "/work")!;
  whole.begin("one");
  whole.addPart({ said: "a" });
  whole.addPart({ shown: { sessionUpdate: "plan", entries: [] } });
  whole.begin("two");
  whole.addPart({ said: "b" });
  const bytes = readFileSync(join(directory, "whole.jsonl"));
  let seen = 0;
  for (let cut = 0; cut <= bytes.length; cut++) {
    const id = `cut-${cut}`;
    writeFileSync(join(directory, `${id}.jsonl`), bytes.subarray(0, cut));
    const { turns } = DemoConversation.resume(directory, id)!;
    expect(turns.length).toBeGreaterThanOrEqual(seen);
    seen = turns.length;
    appendFileSync(join(directory, `${id}.jsonl`), `${JSON.stringify({ prompt: "next" })}\n`);
    expect(DemoConversation.resume(directory, id)!.turns.map(({ prompt }) => prompt)).toEqual([
      ...turns.map(({ prompt }) => prompt),
      "next",
    ]);
  }
  expect(seen).toBe(2);
});

test("[DEMO-7] a conversation read back is replayed as it was shown", () => {
  const first = DemoConversation.create(directory, "a", "/work")!;
  first.begin("one");
  first.addPart({ said: "a " });
  first.addPart({ shown: { sessionUpdate: "plan", entries: [] } });
  first.addPart({ said: "b" });
  first.add({ prompt: "two", reply: "c" });
  const again = DemoConversation.resume(directory, "a")!;
  expect([again.cwd, again.turns, again.describe()]).toEqual(["/work", first.turns, first.describe()]);
  expect(replayOf(again.turns)).toMatchObject([
    { sessionUpdate: "user_message_chunk", content: { text: "one" } },
    { sessionUpdate: "agent_message_chunk", content: { text: "a " } },
    { sessionUpdate: "plan" },
    { sessionUpdate: "agent_message_chunk", content: { text: "b" } },
    { sessionUpdate: "user_message_chunk", content: { text: "two" } },
    { sessionUpdate: "agent_message_chunk", content: { text: "c" } },
  ]);
});

test("[DEMO-8] a removed conversation is not brought back by the turn that still runs", () => {
  const conversation = DemoConversation.create(directory, "a", "/work")!;
  conversation.begin("one");
  conversation.remove();
  conversation.addPart({ said: "late" });
  expect(DemoConversation.resume(directory, "a")).toBeNull();
});
