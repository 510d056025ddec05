import { expect, test } from "vitest";
import type { FactEvent } from "../../contract/event.ts";
import { asPromptId } from "../../contract/ids.ts";
import { timesTyped } from "./prompts.ts";

test("[TERMINAL-31] of the tries of a prompt only those that typed it count", () => {
  const [one, other] = [asPromptId("p-1"), asPromptId("p-2")];
  const events: FactEvent[] = [
    { type: "prompt.requeued", promptId: one, reason: "tmux did not take the text" },
    { type: "prompt.requeued", promptId: one, reason: "the agent did not take Enter", typed: true },
    { type: "prompt.requeued", promptId: other, reason: "the agent did not take Enter", typed: true },
    { type: "prompt.requeued", promptId: one, reason: "the agent does not run" },
  ];
  expect(timesTyped(events, one)).toBe(1);
});
