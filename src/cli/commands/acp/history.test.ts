import { describe, expect, test } from "vitest";
import { EventLog, type Script } from "../../test-support/stand-in.ts";
import { daemon } from "../commands.fixture.ts";
import { chat } from "./acp.fixture.ts";

describe("[CLI-21] history", () => {
  function talk(turns: number): EventLog {
    const log = new EventLog();
    for (let at = 1; at <= turns; at++) {
      log.add({ type: "prompt.admitted", promptId: `p${at}`, text: `ask ${at}` });
      log.add({ type: "prompt.sent", promptId: `p${at}` }, { type: "turn.started", promptId: `p${at}` });
      for (let piece = 0; piece < 5; piece++) log.add({ type: "agent.text", text: `${piece}` });
      log.add({ type: "turn.ended", stopReason: "end_turn", promptId: `p${at}` });
    }
    return log;
  }
  const script = (log: EventLog): Script => ({
    "GET /api/sessions/ma-1": { answer: chat("ma-1", { seq: log.events.length }) },
    "GET /api/sessions/ma-1/events": { answer: log },
  });

  test("all of it, or the last turns without reading the rest", async () => {
    const { run, asked } = await daemon(script(talk(400)));
    const all = await run(["acp", "history", "ma-1"]);
    expect(all.out.split("\n").filter((line) => line.startsWith("> ")).length).toBe(400);
    const before = asked.length;
    expect((await run(["acp", "history", "ma-1", "-n", "2"])).out).toBe(
      "> ask 399\n01234\n[turn finished]\n\n> ask 400\n01234\n[turn finished]",
    );
    expect(asked.length - before).toBe(2);
    const events = JSON.parse((await run(["acp", "history", "ma-1", "-n", "1", "--json"])).out) as { type: string }[];
    expect(events.map(({ type }) => type).slice(0, 2)).toEqual(["prompt.sent", "turn.started"]);
    expect((await run(["acp", "history", "ma-1", "-n", "x"])).code).toBe(2);
  });

  test("a session without messages", async () => {
    const { run } = await daemon(script(new EventLog()));
    expect((await run(["acp", "history", "ma-1"])).out).toBe("No messages yet.");
  });
});
