import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { dropConnection, sessionOf, type Script } from "../../test-support/stand-in.ts";
import { daemon } from "../commands.fixture.ts";

describe("send", () => {
  const answer = (disposition: string, reason: string | null): Script => ({
    "POST /api/sessions/ma-1/prompts": { answer: { promptId: "p", disposition, reason } },
  });

  test("[CLI-13] delivered, typed and queued exit 0, unconfirmed and refused exit 1", async () => {
    expect(await (await daemon(answer("typed", null))).run(["send", "ma-1", "x"])).toMatchObject({
      code: 0,
      out: "typed",
    });
    expect(await (await daemon(answer("unconfirmed", "why"))).run(["send", "ma-1", "x"])).toEqual({
      code: 1,
      out: "",
      err: "unconfirmed (why)",
    });
    expect(await (await daemon(answer("delivered", null))).run(["send", "ma-1", "hello", "there"])).toEqual({
      code: 0,
      out: "delivered",
      err: "",
    });
    expect(await (await daemon(answer("queued", "busy"))).run(["send", "ma-1", "x"])).toEqual({
      code: 0,
      out: "queued (busy)",
      err: "",
    });
    expect(await (await daemon(answer("refused", "killed"))).run(["send", "ma-1", "x"])).toEqual({
      code: 1,
      out: "",
      err: "refused (killed)",
    });
  });

  test("[CLI-13] the text comes from arguments or a file, with the given prompt id", async () => {
    const stand = await daemon(answer("delivered", null));
    await stand.run(["send", "ma-1", "a", "b", "--prompt-id", "mine-1"]);
    expect(stand.asked.at(-1)?.body).toEqual({ promptId: "mine-1", text: "a b" });
    writeFileSync(join(stand.home, "prompt.md"), "from a file\n");
    await stand.run(["send", "ma-1", "-f", join(stand.home, "prompt.md")]);
    expect(stand.asked.at(-1)?.body).toMatchObject({ text: "from a file\n" });
    for (const line of [
      ["send", "ma-1"],
      ["send", "ma-1", "x", "-f", "y"],
      ["send", "ma-1", " "],
      ["send", "ma-1", "x", "--prompt-id", "a b"],
    ]) {
      expect((await stand.run(line)).code).toBe(2);
    }
  });
});

describe("[CLI-13] send --wait", () => {
  const script = (answer: unknown, kind: "chat" | "terminal" = "chat"): Script => ({
    "GET /api/sessions/ma-1": { answer: sessionOf({ id: "ma-1", kind }) },
    "POST /api/sessions/ma-1/prompts": { answer },
  });
  const receipt = (turn?: { stopReason: string; text: string; message?: string }, disposition = "delivered") => ({
    promptId: "p",
    disposition,
    reason: turn === undefined ? "why" : null,
    ...(turn === undefined ? {} : { turn }),
  });

  test("prints the reply, and the stop reason unless it is end_turn", async () => {
    const done = await daemon(script(receipt({ stopReason: "end_turn", text: "  Two\n  tests.\n" })));
    expect(await done.run(["send", "ma-1", "--wait", "Which?"])).toEqual({ code: 0, out: "  Two\n  tests.", err: "" });
    expect(done.asked.at(-1)?.body).toMatchObject({ text: "Which?", waitForTurn: true });
    expect(JSON.parse((await done.run(["send", "ma-1", "--wait", "--json", "x"])).out)).toEqual({
      promptId: "p",
      disposition: "delivered",
      reason: null,
      turn: { stopReason: "end_turn", text: "  Two\n  tests.\n" },
    });
    const cancelled = await daemon(script(receipt({ stopReason: "cancelled", text: "" })));
    expect(await cancelled.run(["send", "ma-1", "--wait", "x"])).toEqual({ code: 0, out: "[cancelled]", err: "" });
  });

  test("[CLI-13, CLI-36] words how a turn failed, with the agent's own, and exits 1", async () => {
    const failed = await daemon(script(receipt({ stopReason: "error", text: "", message: "the model is overloaded" })));
    const ran = await failed.run(["send", "ma-1", "--wait", "x"]);
    expect(ran).toEqual({ code: 1, out: "[turn failed] the model is overloaded", err: "" });
    const cut = await daemon(script(receipt({ stopReason: "orphaned_at_restart", text: "" })));
    expect((await cut.run(["send", "ma-1", "--wait", "x"])).out).toBe(
      "[interrupted: the agent exited before it finished]",
    );
  });

  test("exits 1 without a turn, and refuses terminal sessions", async () => {
    const none = await daemon(script(receipt(undefined, "refused")));
    expect(await none.run(["send", "ma-1", "--wait", "x"])).toEqual({ code: 1, out: "", err: "refused (why)" });
    const terminal = await daemon(script(receipt(), "terminal"));
    const ran = await terminal.run(["send", "ma-1", "--wait", "x"]);
    expect([ran.code, ran.err.split("\n")[0]]).toEqual([
      1,
      "Failed to send to session ma-1: --wait is only supported for chat sessions.",
    ]);
    expect(terminal.asked.map(({ line }) => line)).toEqual(["GET /api/sessions/ma-1"]);
  });

  test("a connection that is lost is taken up again with the same prompt id", async () => {
    let times = 0;
    const made = await daemon({
      ...script(null),
      "POST /api/sessions/ma-1/prompts": {
        answer: () => (++times === 1 ? dropConnection : receipt({ stopReason: "end_turn", text: "ok" })),
      },
    });
    const ran = await made.run(["send", "ma-1", "--wait", "x"]);
    expect(ran).toEqual({ code: 0, out: "ok", err: "Lost connection to the daemon; waiting for it to come back." });
    const ids = made.asked.flatMap(({ body }) => (body === null ? [] : [(body as { promptId: string }).promptId]));
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });
});
