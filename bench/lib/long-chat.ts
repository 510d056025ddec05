/** A long conversation, written into a home without a running daemon: half text, the rest tool calls, thoughts, usage. */
import { Transcripts } from "../../src/supervisor/transcripts.ts";
import type { FactEvent } from "../../src/contract/event.ts";
import { asPromptId, asSessionId } from "../../src/contract/ids.ts";
import { openStore } from "../../src/store/open.ts";
import type { BenchHome } from "./home.ts";

/** Per turn: 3 for its prompt, 50 of text, 8 thoughts, 12 tool calls of 3 events, 2 of usage, its end. */
export const eventsPerTurn = 100;

/** `notFolded` events come after the cached transcript. */
export async function seedLongChat(home: BenchHome, events: number, notFolded: number): Promise<string> {
  const { database, backups, reserve } = home.paths;
  const store = openStore({ path: database, backupsDirectory: backups, reservePath: reserve, now: Date.now });
  const id = asSessionId("app-1");
  try {
    const turns = (first: number, count: number): FactEvent[] =>
      Array.from({ length: count }, (_, index) => turn(first + index)).flat();
    const ready = (events - notFolded) / eventsPerTurn;
    for (let first = 0; first < ready; first += 10)
      await store.commit(id, () => turns(first, Math.min(10, ready - first)));
    await new Transcripts(store).advance(id);
    await store.commit(id, () => turns(ready, notFolded / eventsPerTurn));
  } finally {
    store.close();
  }
  return id;
}

function turn(number: number): FactEvent[] {
  const promptId = asPromptId(`bench-${number}`);
  const words = (length: number): string => "the quick brown fox jumps over the lazy dog ".repeat(10).slice(0, length);
  const text = (): FactEvent => ({ type: "agent.text", text: words(200) });
  const tool = (index: number): FactEvent[] => {
    const toolCallId = `call-${number}-${index}`;
    return [
      {
        type: "tool.updated",
        toolCallId,
        title: words(40),
        kind: "execute",
        status: "pending",
        rawInput: { command: words(80) },
      },
      { type: "tool.updated", toolCallId, status: "in_progress" },
      { type: "tool.updated", toolCallId, status: "completed", rawOutput: { stdout: words(400) } },
    ];
  };
  return [
    { type: "prompt.admitted", promptId, text: words(150), by: "person" },
    { type: "prompt.sent", promptId, seenBy: "in" },
    { type: "turn.started", promptId },
    ...Array.from({ length: 12 }, (_, index) => [text(), text(), text(), text(), ...tool(index)]).flat(),
    text(),
    text(),
    ...Array.from({ length: 8 }, (): FactEvent => ({ type: "agent.thought", text: words(200) })),
    { type: "usage.updated", usage: { used: number, size: 200_000 } },
    { type: "usage.updated", usage: { used: number + 1, size: 200_000 } },
    { type: "turn.ended", stopReason: "end_turn", promptId },
  ];
}
