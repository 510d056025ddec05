import { afterEach, describe, expect, test } from "vitest";
import {
  dropConnection,
  EventLog,
  sessionOf,
  standIn,
  type Script,
  type StandIn,
} from "../../test-support/stand-in.ts";

let open: StandIn[] = [];
afterEach(async () => {
  for (const each of open) await each.close();
  open = [];
});

async function daemon(script: Script): Promise<StandIn> {
  const made = await standIn(script);
  open.push(made);
  return made;
}

const chat = (id: string, more = {}) => sessionOf({ id, kind: "chat", ...more });
const verbAnswer = (id: string, more = {}) => ({ session: chat(id), remaining: [], done: true, notes: [], ...more });
const refused = (message: string, hint: string | null = null) => ({
  status: 409,
  answer: { error: { code: "conflict", message, hint } },
});
const process = { pid: 7, startedAt: null, what: "agent" };

describe("[CLI-23] acp ps", () => {
  const worker = (session: string, more = {}) => ({
    pid: 12,
    session,
    agent: "claude",
    state: "idle",
    build: "1.0+k1",
    stale: false,
    detached: false,
    startedAt: "2026-01-01T22:00:00.000Z",
    ...more,
  });
  test("lists agents in natural order, with what is stale or without its keeper", async () => {
    const workers = [
      worker("ma-10", { stale: true, state: "working", detached: true }),
      worker("ma-2", { pid: null, startedAt: null }),
    ];
    const { run } = await daemon({ "GET /api/acp": { answer: workers } });
    expect((await run(["acp", "ps"])).out.split("\n")).toEqual([
      "PID  SESSION  AGENT   STATE    BUILD           DETACHED  UPTIME",
      "-    ma-2     claude  idle     1.0+k1          no",
      "12   ma-10    claude  working  1.0+k1 (stale)  yes       2h",
    ]);
    expect(JSON.parse((await run(["acp", "ps", "--json"])).out)).toEqual(workers);
  });

  test("says so where there is none", async () => {
    const { run } = await daemon({ "GET /api/acp": { answer: [] } });
    expect((await run(["acp", "ps"])).out).toBe("No chat agent is running.");
  });
});

describe("[CLI-23] verbs on chat agents", () => {
  test("stop is session stop; kill, restart and convert say what they did", async () => {
    const { run, asked } = await daemon({
      "POST /api/sessions/ma-1/stop": { answer: verbAnswer("ma-1") },
      "POST /api/sessions/ma-1/acp/kill": { answer: verbAnswer("ma-1") },
      "POST /api/sessions/ma-1/acp/restart": { answer: verbAnswer("ma-1", { done: false }) },
      "POST /api/sessions/ma-1/convert": { answer: verbAnswer("ma-1", { notes: ["The conversation goes on."] }) },
    });
    expect((await run(["acp", "stop", "ma-1"])).out).toBe("Session ma-1 stopped.");
    expect((await run(["acp", "kill", "ma-1"])).out).toBe("Session ma-1 stopped by force.");
    expect((await run(["acp", "restart", "ma-1", "--no-wait"])).out).toBe("Session ma-1 will be restarted.");
    expect(asked.at(-1)?.body).toEqual({ wait: false });
    expect((await run(["session", "convert", "ma-1", "--kind", "terminal"])).out).toBe(
      "Session ma-1 converted to terminal.\n  The conversation goes on.",
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
      "POST /api/sessions/ma-2/stop": { answer: verbAnswer("ma-2") },
      "POST /api/sessions/ma-10/stop": { answer: verbAnswer("ma-10") },
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

  test("cancel says how the turn ended, or why it did not", async () => {
    const answers = [
      [
        { cancelled: true, stopReason: "cancelled", reason: null },
        { code: 0, out: "Turn cancelled.", err: "" },
      ],
      [
        { cancelled: true, stopReason: "end_turn", reason: null },
        { code: 0, out: "Turn ended: end_turn.", err: "" },
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
    expect((await run(["acp", "end-turn", "ma-1"])).out).toBe("Turn of session ma-1 ended by force.");
    expect((await run(["acp", "logs", "ma-1", "-n", "2"])).out).toBe("  at x\nb [2J");
    expect(asked.at(-1)?.line).toBe("GET /api/sessions/ma-1/acp/logs?lines=2");
    expect((await run(["acp", "logs", "ma-1", "-n", "0"])).code).toBe(2);
    expect((await run(["acp", "primer", "ma-1", "--before-seq", "9"])).out).toBe("# Recap\n\n- a");
    expect(asked.at(-1)?.line).toBe("GET /api/sessions/ma-1/acp/context-primer?before_seq=9");
    expect((await run(["acp", "primer", "ma-1", "--before-seq", "x"])).code).toBe(2);
  });
});

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
      "> ask 399\n01234\n[end_turn]\n\n> ask 400\n01234\n[end_turn]",
    );
    expect(asked.length - before).toBe(2);
    const events = JSON.parse((await run(["acp", "history", "ma-1", "-n", "1", "--json"])).out) as { type: string }[];
    expect(events.map(({ type }) => type).slice(0, 2)).toEqual(["prompt.sent", "turn.started"]);
    expect((await run(["acp", "history", "ma-1", "-n", "x"])).code).toBe(2);
  });

  test("of a session in which nothing was said", async () => {
    const { run } = await daemon(script(new EventLog()));
    expect((await run(["acp", "history", "ma-1"])).out).toBe("Nothing was said yet.");
  });
});

describe("[CLI-13] send --wait", () => {
  const script = (answer: unknown, kind: "chat" | "terminal" = "chat"): Script => ({
    "GET /api/sessions/ma-1": { answer: sessionOf({ id: "ma-1", kind }) },
    "POST /api/sessions/ma-1/prompts": { answer },
  });
  const receipt = (turn?: { stopReason: string; text: string }, disposition = "delivered") => ({
    promptId: "p",
    disposition,
    reason: turn === undefined ? "why" : null,
    ...(turn === undefined ? {} : { turn }),
  });

  test("prints what the agent said, and how the turn ended if not by itself", async () => {
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

  test("exits 1 where there was no turn, and says that a terminal session has none", async () => {
    const none = await daemon(script(receipt(undefined, "refused")));
    expect(await none.run(["send", "ma-1", "--wait", "x"])).toEqual({ code: 1, out: "", err: "refused (why)" });
    const terminal = await daemon(script(receipt(), "terminal"));
    const ran = await terminal.run(["send", "ma-1", "--wait", "x"]);
    expect([ran.code, ran.err.split("\n")[0]]).toEqual([
      1,
      "Failed to send to session ma-1: it is a terminal session, whose turns have no end that can be waited for.",
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
    expect(ran).toEqual({ code: 0, out: "ok", err: "The daemon went away; waiting for it." });
    const ids = made.asked.flatMap(({ body }) => (body === null ? [] : [(body as { promptId: string }).promptId]));
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });
});

test("[CLI-14] completion offers chat sessions and open questions", async () => {
  const permissions = [{ requestId: "r1", title: "Run npm test", options: [] }];
  const { run } = await daemon({
    "GET /api/sessions": { answer: [sessionOf({ id: "ma-1" }), chat("ma-2", { permissions })] },
  });
  expect((await run(["complete", "--", "acp", "tail", ""])).out).toBe("ma-2\tworking Some work");
  expect((await run(["complete", "--", "acp", "approve", "ma-2", "--request", ""])).out).toBe("r1\tma-2: Run npm test");
  expect((await run(["complete", "--", "acp", "end"])).out).toMatch(/^end-turn\t/);
  expect((await run(["complete", "--", "session", "convert", "ma-1", "--kind", ""])).out).toBe("terminal\nchat");
});

describe("[ATT-6] acp queue", () => {
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

  test("lists what waits, with its place", async () => {
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
    [["--withdraw", "a"], "More than one prompt that waits is a."],
    [["--withdraw", "zz"], "No prompt that waits is zz."],
    [["--move", "ab", "0"], "--move needs a place: 1 is the first."],
    [["--edit", "ab"], "--edit needs the new text."],
    [["words"], "The text is for --edit; send a prompt with holdfast send."],
  ])("%j is refused and changes nothing", async (argv, message) => {
    const { run, asked } = await daemon(script);
    const ran = await run(["acp", "queue", "ma-1", ...argv]);
    expect(ran.code).not.toBe(0);
    expect(ran.err).toContain(message);
    expect(asked.every(({ line }) => line.startsWith("GET"))).toBe(true);
  });
});

describe("[ATT-6] acp configure", () => {
  const modes = { currentModeId: "ask", availableModes: [{ id: "ask" }, { id: "code" }] };
  const configOptions = [{ id: "effort", currentValue: "low", options: [{ value: "low" }, { value: "high" }] }];
  const script = {
    "GET /api/sessions/ma-1/transcript?tail=1": { answer: { modes, models: null, configOptions } },
    "POST /api/sessions/ma-1/acp/configure": { answer: chat("ma-1") },
  };

  test("without an option it says what can be picked", async () => {
    const { run } = await daemon(script);
    const { out } = await run(["acp", "configure", "ma-1"]);
    expect(out).toBe("mode: ask (of ask, code)\neffort: low (of low, high)");
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
    expect((await run(["acp", "configure", "ma-1", "--set", "effort"])).err).toContain("--set takes option=value");
  });
});
