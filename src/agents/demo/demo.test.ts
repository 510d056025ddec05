import { mkdtempSync, rmSync, writeFileSync, appendFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { conversationsDirectory, DemoConversation } from "./conversation.ts";
import { DemoInput } from "./input.ts";
import { parseTerminalPrompt } from "./script.ts";

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "demo-"));
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

test("[DEMO-16] a resumed conversation holds every turn of the first", () => {
  const first = DemoConversation.create(directory, "a-1")!;
  first.add({ prompt: "say: one", reply: "one" });
  first.add({ prompt: "say: zwei\nsay: 3", reply: "zwei\n3" });
  const again = DemoConversation.resume(directory, "a-1")!;
  expect(again.turns).toEqual(first.turns);
  expect(again.describe()).toBe(first.describe());
  expect(again.describe()).toMatch(/^history: turns=2 digest=[0-9a-f]{8} replies=2$/);
});

test("[DEMO-16] an id that exists is not begun again, and one that does not is not resumed", () => {
  expect(DemoConversation.create(directory, "a-1")).not.toBeNull();
  expect(DemoConversation.create(directory, "a-1")).toBeNull();
  expect(DemoConversation.resume(directory, "a-2")).toBeNull();
  expect(DemoConversation.create(directory, "../escape")).toBeNull();
});

test("[DEMO-16] a turn that a crash cut off is left out", () => {
  writeFileSync(join(directory, "x.jsonl"), '{"prompt":"a","reply":"b"}\n');
  appendFileSync(join(directory, "x.jsonl"), '{"prompt":"c","re');
  expect(DemoConversation.resume(directory, "x")?.turns).toHaveLength(1);
});

test("conversations are kept with the person's state", () => {
  expect(conversationsDirectory({ HOME: "/h" })).toBe("/h/.local/state/holdfast-demo");
  expect(conversationsDirectory({ HOME: "/h", XDG_STATE_HOME: "/s" })).toBe("/s/holdfast-demo");
});

test("a prompt's lines are its steps, and one without steps is echoed", () => {
  expect(parseTerminalPrompt("say: hi\n words \nask: may I?\nslow: 0.5\nexit: 3\nhistory?")).toEqual([
    { step: "say", text: "hi" },
    { step: "ask", text: "may I?" },
    { step: "slow", seconds: 0.5 },
    { step: "exit", code: 3 },
    { step: "history" },
  ]);
  expect(parseTerminalPrompt("hello")).toEqual([{ step: "say", text: "You said: hello" }]);
});

test("[DEMO-17] a bracketed paste keeps its lines, however it is cut", () => {
  const text = "\u001b[200~say: one\rsay: two\u001b[201~\r";
  for (let cut = 0; cut <= text.length; cut++) {
    const input = new DemoInput();
    const keys = [...input.push(text.slice(0, cut)), ...input.push(text.slice(cut))];
    const typed = keys.flatMap((key) => (key.key === "text" ? [key.text] : [])).join("");
    // A cut behind the very first byte cannot be told from a pressed Escape.
    if (cut === 1) continue;
    expect([cut, typed, keys.at(-1)]).toEqual([cut, "say: one\nsay: two", { key: "enter" }]);
  }
});

test("other keys are told apart and unknown sequences are ignored", () => {
  const keys = new DemoInput().push("a\u001b[Ab\u007f\u0003\u0004\r").map(({ key }) => key);
  expect(keys).toEqual(["text", "text", "erase", "interrupt", "end", "enter"]);
});
