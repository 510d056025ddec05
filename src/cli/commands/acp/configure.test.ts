import { describe, expect, test } from "vitest";
import { daemon } from "../commands.fixture.ts";
import { chat } from "./acp.fixture.ts";

describe("[CHAT-136] acp configure", () => {
  const modes = { currentModeId: "ask", availableModes: [{ id: "ask" }, { id: "code" }] };
  const configOptions = [{ id: "effort", currentValue: "low", options: [{ value: "low" }, { value: "high" }] }];
  const script = {
    "GET /api/sessions/ma-1/transcript?tail=1": { answer: { modes, models: null, configOptions } },
    "POST /api/sessions/ma-1/acp/configure": { answer: chat("ma-1") },
  };

  test("without an option it lists the available settings", async () => {
    const { run } = await daemon(script);
    const { out } = await run(["acp", "configure", "ma-1"]);
    expect(out).toBe("mode: ask (of ask, code)\neffort: low (of low, high)");
  });

  test("[TEXT-6] names that an agent gave are shown as a shell takes them", async () => {
    const hostile = { currentModeId: "ask", availableModes: [{ id: "$(touch x)" }, { id: "a b" }] };
    const { run } = await daemon({
      "GET /api/sessions/ma-1/transcript?tail=1": { answer: { modes: hostile, models: null, configOptions: null } },
    });
    expect((await run(["acp", "configure", "ma-1"])).out).toBe("mode: ask (of '$(touch x)', 'a b')");
  });

  test("picks one after the other, options as often as given", async () => {
    const { run, asked } = await daemon(script);
    const argv = ["acp", "configure", "ma-1", "--mode", "code", "--set", "effort=high", "--set=x=y=z"];
    expect(await run(argv)).toMatchObject({ code: 0, out: "Done." });
    const bodies = asked.filter(({ line }) => line.startsWith("POST")).map(({ body }) => body);
    const picks = [
      { id: "effort", value: "high" },
      { id: "x", value: "y=z" },
    ].map((option) => ({ option }));
    expect(bodies).toEqual([{ mode: "code" }, ...picks]);
    expect((await run(["acp", "configure", "ma-1", "--set", "effort"])).err).toContain("--set must be option=value");
  });
});
