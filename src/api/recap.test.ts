import { expect, test } from "vitest";
import type { FactEvent } from "../contract/event.ts";
import { asPromptId, asSessionId } from "../contract/ids.ts";
import { created, makeHome } from "../store/store.fixture.ts";
import { recapOf } from "./chat.ts";

const id = asSessionId("ma-1");

/** One turn of so many events; its prompt may have waited behind the turn before. */
function turn(number: number, pieces: number): FactEvent[] {
  const promptId = asPromptId(`p${number}`);
  return [
    { type: "turn.started", promptId },
    { type: "agent.text", text: `begin ${number}. ` },
    ...Array.from({ length: pieces }, (_, at): FactEvent => ({
      type: "plan.updated",
      entries: [{ content: `${at}` }],
    })),
    { type: "agent.text", text: `end ${number}.` },
    { type: "turn.ended", stopReason: "end_turn", promptId },
  ];
}

async function told(turns: number, pieces: number) {
  const store = makeHome().open();
  await store.create(created("ma-1"));
  const numbers = Array.from({ length: turns }, (_, at) => at + 1);
  const admitted = numbers.map((number): FactEvent => {
    const promptId = asPromptId(`p${number}`);
    return { type: "prompt.admitted", promptId, text: `prompt ${number}`, by: "person" };
  });
  await store.commit(id, () => [...admitted, ...numbers.flatMap((number) => turn(number, pieces))]);
  const { seq } = store.session(id)!;
  const primer = recapOf(store, id, seq + 1);
  return { ...primer, words: primer.markdown.match(/(prompt|begin|end) \d+/g) };
}

test("[RECAP-4] of a session that is longer than what is read, only whole turns are told, with their prompts, and the omission is said", async () => {
  const { markdown, turns, words } = await told(30, 700);
  expect(turns).toBe(20);
  expect(words).toEqual(
    Array.from({ length: 20 }, (_, at) => at + 11).flatMap((number) => [
      `prompt ${number}`,
      `begin ${number}`,
      `end ${number}`,
    ]),
  );
  expect(markdown).toContain(" Earlier turns are left out.");
});

test("[RECAP-4] turns that are longer than a page are read to their start", async () => {
  const { markdown, turns, omitted, words } = await told(3, 12_000);
  expect([turns, omitted]).toEqual([3, 0]);
  expect(words).toEqual([1, 2, 3].flatMap((number) => [`prompt ${number}`, `begin ${number}`, `end ${number}`]));
  expect(markdown).not.toContain("turns are left out");
});

test("[RECAP-5] of a turn without bounds the prompt and the end are told, and the rest is not read", async () => {
  const store = makeHome().open();
  await store.create(created("ma-1"));
  const promptId = asPromptId("p");
  await store.commit(id, () => [
    ...turn(1, 1),
    { type: "prompt.admitted", promptId, text: "flood me", by: "person" },
    { type: "turn.started", promptId },
  ]);
  const piece: FactEvent = { type: "tool.updated", toolCallId: "t", title: "x" };
  for (let at = 0; at < 30; at++) {
    await store.commit(id, () => [{ type: "agent.text", text: `${at} `.padEnd(2 ** 20, "x") }, piece]);
  }
  await store.commit(id, () => [
    { type: "agent.text", text: "the very end" },
    { type: "turn.ended", stopReason: "end_turn", promptId },
  ]);
  let read = 0;
  const counting = {
    ...Object.fromEntries(["prompt", "session"].map((name) => [name, store[name as "prompt"].bind(store)])),
    someEvents(...args: Parameters<typeof store.someEvents>) {
      const events = store.someEvents(...args);
      read += JSON.stringify(events).length;
      return events;
    },
  } as unknown as typeof store;
  const { markdown, turns } = recapOf(counting, id, store.session(id)!.seq + 1);
  expect(turns).toBe(1);
  for (const words of ["flood me", "the very end", "cut here", "Earlier turns are left out."])
    expect(markdown).toContain(words);
  expect(markdown.length).toBeLessThanOrEqual(24_000);
  expect(read).toBeLessThan(24 * 2 ** 20);
});
