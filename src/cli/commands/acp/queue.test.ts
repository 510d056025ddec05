import { describe, expect, test } from "vitest";
import { daemon } from "../commands.fixture.ts";

describe("[CHAT-136] acp queue", () => {
  const waits = (promptId: string, text: string, more = {}) => ({
    promptId,
    text,
    state: "queued",
    admittedAt: null,
    attachments: [],
    ...more,
  });
  const prompts = [
    waits("aa-1", "first"),
    waits("ab-2", "second", { attachments: [{ type: "file", name: "x.md", size: 0 }] }),
  ];
  const script = {
    "GET /api/sessions/ma-1/prompts": { answer: { prompts } },
    "POST /api/sessions/ma-1/prompts/ab-2": { answer: { prompts: prompts.slice(0, 1) } },
  };

  test("lists queued prompts with their positions", async () => {
    const { run } = await daemon(script);
    expect((await run(["acp", "queue", "ma-1"])).out).toBe("1. aa-1  first\n2. ab-2  second [x.md]");
    expect(JSON.parse((await run(["acp", "queue", "ma-1", "--json"])).out)).toEqual(prompts);
  });

  test.each([
    [["--edit", "ab", "new", "words"], { text: "new words" }],
    [["--move", "ab-2", "1"], { position: 0 }],
    [["--withdraw", "ab"], { withdraw: true }],
  ])("%j changes one", async (argv, body) => {
    const { run, asked } = await daemon(script);
    expect(await run(["acp", "queue", "ma-1", ...argv])).toMatchObject({ code: 0, out: "1. aa-1  first" });
    expect(asked.at(-1)).toMatchObject({ line: "POST /api/sessions/ma-1/prompts/ab-2", body });
  });

  test.each([
    [["--withdraw", "a"], "More than one queued prompt matches a."],
    [["--withdraw", "zz"], "No queued prompt matches zz."],
    [["--move", "ab", "0"], "--move requires a position; 1 is the first."],
    [["--edit", "ab"], "--edit requires the new text."],
    [["words"], "The text requires --edit. To send a prompt, use holdfast send."],
  ])("%j is refused and changes nothing", async (argv, message) => {
    const { run, asked } = await daemon(script);
    const ran = await run(["acp", "queue", "ma-1", ...argv]);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toContain(message);
    expect(asked.every(({ line }) => line.startsWith("GET"))).toBe(true);
  });
});
