import { expect, test } from "vitest";
import type { SessionEvent } from "../protocol/event.ts";
import { asPromptId, asSessionId } from "../protocol/ids.ts";
import { created, makeHome } from "../store/fixture.ts";
import { primerOf } from "./primer-events.ts";

const id = asSessionId("ma-1");

/** One turn of so many events; its prompt may have waited behind the turn before. */
function turn(number: number, pieces: number): SessionEvent[] {
  const promptId = asPromptId(`p${number}`);
  return [
    { type: "turn.started", promptId },
    { type: "agent.text", text: `begin ${number}. ` },
    ...Array.from({ length: pieces }, (_, at): SessionEvent => ({
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
  const admitted = numbers.map((number): SessionEvent => {
    const promptId = asPromptId(`p${number}`);
    return { type: "prompt.admitted", promptId, text: `prompt ${number}`, by: "person" };
  });
  await store.change(id, () => [...admitted, ...numbers.flatMap((number) => turn(number, pieces))]);
  const { seq } = store.session(id)!;
  const primer = primerOf(store, id, seq + 1);
  return { ...primer, words: primer.markdown.match(/(prompt|begin|end) \d+/g) };
}

test("[PRIME-4] of a session that is longer than what is read, only whole turns are told, with their prompts, and the omission is said", async () => {
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

test("[PRIME-4] turns that are longer than a page are read to their start", async () => {
  const { markdown, turns, omitted, words } = await told(3, 12_000);
  expect([turns, omitted]).toEqual([3, 0]);
  expect(words).toEqual([1, 2, 3].flatMap((number) => [`prompt ${number}`, `begin ${number}`, `end ${number}`]));
  expect(markdown).not.toContain("turns are left out");
});
