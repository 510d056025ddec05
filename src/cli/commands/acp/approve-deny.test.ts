import { describe, expect, test } from "vitest";
import type { Script } from "../../test-support/stand-in.ts";
import { daemon } from "../commands.fixture.ts";
import { chat } from "./acp.fixture.ts";

describe("[CLI-19] approve and deny", () => {
  const options = [
    { optionId: "y", name: "Yes", kind: "allow_once" },
    { optionId: "never", name: "Never", kind: "reject_always" },
  ];
  const permissions = [
    { requestId: "r1", title: "Run npm test", options },
    { requestId: "r2", title: "Write a.ts", options: options.slice(0, 1) },
  ];
  const script = (answer: unknown, open = permissions): Script => ({
    "GET /api/sessions/ma-1": { answer: chat("ma-1", { permissions: open }) },
    "POST /api/sessions/ma-1/acp/answer": { answer },
  });

  test("the question that is answered is the one that is named", async () => {
    const { run, asked } = await daemon(script({ answered: true, reason: null }));
    const said = async (...argv: string[]) => [(await run(["acp", ...argv])).out, asked.at(-1)?.body];
    expect(await said("approve", "ma-1")).toEqual(["Approved: Run npm test", { requestId: "r1", answer: "allow" }]);
    expect(await said("approve", "ma-1", "--always")).toEqual([
      "Approved: Run npm test",
      { requestId: "r1", answer: "allow_always" },
    ]);
    expect(await said("deny", "ma-1", "--request", "r2")).toEqual([
      "Denied: Write a.ts",
      { requestId: "r2", answer: "deny" },
    ]);
    expect(await said("deny", "ma-1", "--always")).toEqual([
      "Denied: Run npm test",
      { requestId: "r1", optionId: "never" },
    ]);
    expect(JSON.parse((await run(["acp", "approve", "ma-1", "--json"])).out)).toEqual({
      answered: true,
      reason: null,
      requestId: "r1",
      title: "Run npm test",
    });
  });

  test("exit 1 where nothing is asked, somebody else was first, or it is not offered", async () => {
    const none = await daemon(script(null, []));
    expect(await none.run(["acp", "approve", "ma-1"])).toEqual({
      code: 1,
      out: "",
      err: "Failed to approve a question of session ma-1: Nothing is asked.",
    });
    const late = await daemon(script({ answered: false, reason: "It was answered already." }));
    expect(await late.run(["acp", "deny", "ma-1"])).toEqual({ code: 1, out: "", err: "It was answered already." });
    expect((await late.run(["acp", "deny", "ma-1", "--request", "r9"])).err.split("\n")).toEqual([
      "Failed to deny a question of session ma-1: The question r9 is not open.",
      "Open: r1 (Run npm test), r2 (Write a.ts).",
    ]);
    expect((await late.run(["acp", "deny", "ma-1", "--request", "r2", "--always"])).code).toBe(1);
  });
});
