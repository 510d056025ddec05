import * as fc from "fast-check";
import { expect, test } from "vitest";
import { chat } from "../commands/acp/acp.fixture.ts";
import { daemon, failure } from "../commands/commands.fixture.ts";
import { EventLog } from "../test-support/stand-in.ts";
import { jsonText } from "./text.ts";

const hostile = "\u009b31m \u0085 \u202e \u2066 \u200b \u2028 \ufeff \u061c \u{e0041} \u007f";
const obeyed =
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}]/u;

test("[TEXT-7] JSON has the same value and nothing that a terminal obeys or hides", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ unit: "binary" }), fc.constantFrom(undefined, 2), (value, text, indent) => {
      const both = { value, text, hostile };
      const shown = jsonText(both, indent);
      expect(shown).not.toMatch(obeyed);
      expect(shown.replaceAll("\n", "")).not.toMatch(obeyed);
      expect(JSON.parse(shown)).toEqual(JSON.parse(JSON.stringify(both)));
    }),
  );
});

test("[TEXT-7] every command's --json, also of events, status and errors, and in a pipe as on a terminal", async () => {
  const log = new EventLog();
  log.add({ type: "agent.text", text: hostile });
  const { run } = await daemon({
    "GET /api/sessions": { answer: [chat("ma-1", { title: hostile })] },
    "GET /api/sessions/ma-1": { answer: chat("ma-1", { title: hostile }) },
    "GET /api/sessions/ma-1/events": { answer: log },
    "GET /api/sessions/ma-9": failure(409, "conflict", hostile, hostile),
    "GET /api/sessions/ma-1/acp/questions": { answer: [] },
  });
  const lines = [
    ["session", "ls", "--json"],
    ["session", "show", "ma-1", "--json"],
    ["status", "--json"],
    ["events", "ma-1", "--json"],
    ["session", "show", "ma-9", "--json"],
    ["session", "ls"],
    ["session", "show", "ma-1"],
    ["status"],
    ["events", "ma-1"],
  ];
  for (const argv of lines) {
    for (const terminal of [true, false]) {
      const { out, err } = await run(argv, { terminal });
      expect(out + err, argv.join(" ")).not.toMatch(/^$/);
      // Colors are ours; everything else was somebody's text.
      // oxlint-disable-next-line no-control-regex -- our own colors
      expect((out + err).replace(/\u001b\[\d*m/g, ""), argv.join(" ")).not.toMatch(obeyed);
      // The value is there all the same.
      const isJson = argv.includes("--json");
      expect(isJson && !(out + err).includes(String.raw`\u009b31m`), argv.join(" ")).toBe(false);
    }
  }
});
