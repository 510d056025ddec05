import { expect, test } from "vitest";
import type { FactEvent } from "../contract/event.ts";
import { asSessionId } from "../contract/ids.ts";
import { created, makeHome, output } from "../store/store.fixture.ts";
import { eventText } from "./stream.ts";
import { eventJson } from "../supervisor/view.ts";

const id = asSessionId("ma-1");
const events: FactEvent[] = [
  output('"quoted" \\ and\n\u2028 {"type":"turn.ended","seq":0} … \ud83d\ude00 \ud83d'),
  { type: "conversation.used" },
  { type: "tool.updated", toolCallId: "t", content: [{ nested: [{}, null, "}"] }], rawInput: {} },
];

test("[API-36] a follower is told of an event in the text that is stored, and reads the same as whoever asks for it", async () => {
  const home = makeHome();
  const store = home.open();
  store.onCommit(() => undefined);
  await store.create(created("ma-1"), events);
  const expected = store.events(id, 0, 10).map((event) => ({ ...eventJson(event), session: id }));
  for (const from of [store, home.open()]) {
    expect(from.log(0, 10).map((entry) => JSON.parse(eventText(entry)))).toEqual(expected);
  }
});
