import { describe, expect, test } from "vitest";
import { sessionOf, type Script } from "../../test-support/stand-in.ts";
import { daemon } from "../commands.fixture.ts";
import { chat, refused, verbResponse } from "./acp.fixture.ts";

const process = { pid: 7, startedAt: null, what: "agent" };

describe("[CLI-23] verbs on chat agents", () => {
  test("stop is session stop; kill, restart and convert report their result", async () => {
    const { run, asked } = await daemon({
      "POST /api/sessions/ma-1/stop": { answer: verbResponse("ma-1") },
      "POST /api/sessions/ma-1/acp/kill": { answer: verbResponse("ma-1") },
      "POST /api/sessions/ma-1/acp/restart": { answer: verbResponse("ma-1", { done: false }) },
      "POST /api/sessions/ma-1/convert": { answer: verbResponse("ma-1", { notes: ["The conversation continues."] }) },
    });
    expect((await run(["acp", "stop", "ma-1"])).out).toBe("Session ma-1 stopped.");
    expect((await run(["acp", "kill", "ma-1"])).out).toBe("Session ma-1 stopped by force.");
    expect((await run(["acp", "restart", "ma-1", "--no-wait"])).out).toBe("Session ma-1 will be restarted.");
    expect(asked.at(-1)?.body).toEqual({ wait: false });
    expect((await run(["session", "convert", "ma-1", "--kind", "terminal"])).out).toBe(
      "Session ma-1 converted to terminal.\n  The conversation continues.",
    );
    expect(asked.at(-1)?.body).toEqual({ kind: "terminal" });
    await run(["session", "convert", "ma-1", "--kind", "chat", "--fresh"]);
    expect(asked.at(-1)?.body).toEqual({ kind: "chat", fresh: true });
    expect((await run(["session", "convert", "ma-1"])).code).toBe(2);
    expect((await run(["session", "convert", "ma-1", "--kind", "other"])).code).toBe(2);
  });

  test("failures are in words, for a session that is not there too", async () => {
    const { run } = await daemon({
      "POST /api/sessions/ma-1/acp/kill": refused("ma-1 is a terminal session.", "Use its screen."),
      "POST /api/sessions/ma-1/acp/end-turn": refused("No turn is in flight."),
      "GET /api/sessions": { answer: [] },
    });
    expect(await run(["acp", "kill", "ma-1"])).toEqual({
      code: 1,
      out: "",
      err: "Failed to kill the agent of session ma-1: ma-1 is a terminal session.\nUse its screen.",
    });
    expect((await run(["acp", "end-turn", "ma-1"])).err).toBe(
      "Failed to end the turn of session ma-1: No turn is in flight.",
    );
    for (const verb of ["stop", "kill", "restart", "logs", "history", "tail", "approve", "deny", "cancel", "primer"]) {
      const ran = await run(["acp", verb, "ma-9"]);
      expect([verb, ran.code, ran.out]).toEqual([verb, 1, ""]);
      expect(ran.err).toMatch(/^Failed to .* session ma-9: Session not found\nList sessions: /);
    }
  });

  test("stop --all stops the chat sessions that run, and exits 1 if one could not be stopped", async () => {
    const sessions = [
      chat("ma-10", { processes: [process] }),
      chat("ma-2", { processes: [process] }),
      chat("ma-3", { status: "stopped" }),
      sessionOf({ id: "ma-4", processes: [process] }),
    ];
    const script: Script = {
      "GET /api/sessions": { answer: sessions },
      "POST /api/sessions/ma-2/stop": { answer: verbResponse("ma-2") },
      "POST /api/sessions/ma-10/stop": { answer: verbResponse("ma-10") },
    };
    const { run, asked } = await daemon(script);
    expect(await run(["acp", "stop", "--all"])).toEqual({
      code: 0,
      out: "Session ma-2 stopped.\nSession ma-10 stopped.",
      err: "",
    });
    expect(asked.filter(({ line }) => line.startsWith("POST")).length).toBe(2);
    expect(JSON.parse((await run(["acp", "stop", "--all", "--json"])).out)).toMatchObject([
      { id: "ma-2" },
      { id: "ma-10" },
    ]);
    const failing = await daemon({ ...script, "POST /api/sessions/ma-2/stop": refused("no") });
    expect(await failing.run(["acp", "stop", "--all"])).toEqual({
      code: 1,
      out: "Session ma-10 stopped.",
      err: "Failed to stop session ma-2: no",
    });
    expect((await run(["acp", "stop"])).code).toBe(2);
    expect((await run(["acp", "stop", "ma-2", "--all"])).code).toBe(2);
  });

  test("cancel prints how the turn ended, or why it did not", async () => {
    const answers = [
      [
        { cancelled: true, stopReason: "cancelled", reason: null },
        { code: 0, out: "Turn cancelled.", err: "" },
      ],
      [
        { cancelled: true, stopReason: "end_turn", reason: null },
        { code: 0, out: "Turn finished.", err: "" },
      ],
      [
        { cancelled: false, stopReason: null, reason: "Not yet." },
        { code: 1, out: "", err: "Not yet." },
      ],
    ] as const;
    for (const [answer, ran] of answers) {
      const { run } = await daemon({ "POST /api/sessions/ma-1/acp/cancel": { answer } });
      expect(await run(["acp", "cancel", "ma-1"])).toEqual(ran);
      expect(JSON.parse((await run(["acp", "cancel", "ma-1", "--json"])).out)).toEqual(answer);
    }
  });

  test("end-turn, logs and primer", async () => {
    const { run, asked } = await daemon({
      "POST /api/sessions/ma-1/acp/end-turn": { answer: chat("ma-1") },
      "GET /api/sessions/ma-1/acp/logs": { answer: { lines: ["  at x", "b\u001b[2J"] } },
      "GET /api/sessions/ma-1/acp/context-primer": { answer: { markdown: "# Recap\n\n- a\n", turns: 1, omitted: 0 } },
    });
    expect((await run(["acp", "end-turn", "ma-1"])).out).toBe("Turn of session ma-1 force-ended.");
    expect((await run(["acp", "logs", "ma-1", "-n", "2"])).out).toBe("  at x\nb [2J");
    expect(asked.at(-1)?.line).toBe("GET /api/sessions/ma-1/acp/logs?lines=2");
    expect((await run(["acp", "logs", "ma-1", "-n", "0"])).code).toBe(2);
    expect((await run(["acp", "primer", "ma-1", "--before-seq", "9"])).out).toBe("# Recap\n\n- a");
    expect(asked.at(-1)?.line).toBe("GET /api/sessions/ma-1/acp/context-primer?before_seq=9");
    expect((await run(["acp", "primer", "ma-1", "--before-seq", "x"])).code).toBe(2);
  });
});
