import { expect, test } from "vitest";
import type { SessionEvent } from "../../contract/event.ts";
import { compactItem } from "./compact.ts";
import { transcriptOf } from "./builder.ts";

const toolWith = (fields: object) => {
  const event: SessionEvent = { type: "tool.updated", toolCallId: "t", ...fields };
  return transcriptOf([{ ...event, seq: 7, at: 1 }]).items[0]!;
};

test("[TRANSCRIPT-10] a tool's long fields are cut, it says so, and cutting again changes nothing", () => {
  const small = toolWith({ rawOutput: "x".repeat(100), content: [{ type: "content" }] });
  expect(compactItem(small)).toBe(small);
  for (const rawOutput of [
    "x".repeat(1e6),
    { lines: Array(1e5).fill("y") },
    Array.from({ length: 1e5 }, () => ({ a: { b: 1 } })),
  ]) {
    const cut = compactItem(toolWith({ title: "kept", rawOutput, rawInput: { command: "ls" } }));
    expect(JSON.stringify(cut).length).toBeLessThan(40_000);
    expect(cut).toMatchObject({ cut: true, title: "kept", rawInput: { command: "ls" }, whole: { rawOutput: 7 } });
    expect(JSON.stringify(compactItem(cut))).toBe(JSON.stringify(cut));
  }
});

test("[TRANSCRIPT-10] nesting without end is cut", () => {
  let deep: unknown = "end";
  for (let level = 0; level < 1000; level++) deep = [deep];
  expect(compactItem(toolWith({ rawInput: deep }))).toMatchObject({ cut: true });
});
