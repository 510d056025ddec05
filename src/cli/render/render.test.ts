import { describe, expect, test } from "vitest";
import type { Context } from "../context.ts";
import type { StopOutcome } from "../system/daemon/control.ts";
import { sessionOf } from "../test-support/stand-in.ts";
import { cleanupLines } from "../commands/session/cleanup.ts";
import { infoLines, printStop } from "./daemon.ts";
import { eventLine } from "../commands/session/events.ts";
import { findingLines } from "../doctor/finding.ts";
import { logLine } from "../commands/daemon/logs.ts";
import { makePaint, cut, receiptLine } from "./text.ts";
import { restoredLines } from "../commands/session/restore.ts";
import { showLines } from "../commands/session/show.ts";
import { sessionLines } from "./sessions.ts";
import { batchLine, batchSummary, spawnedLines } from "../commands/spawn/call-spawn.ts";
import { fitted, statusLines } from "./sessions.ts";
import { trashLines } from "../commands/trash/trash.ts";

const plain = makePaint(false);
const now = Date.parse("2026-01-02T00:00:00Z");
const minutesAgo = (minutes: number): string => new Date(now - minutes * 60_000).toISOString();

describe("session ls", () => {
  const list = { all: false, includeTerminated: false };

  test("[CLI-6] one line a session by project, as people know it", () => {
    const sessions = [
      sessionOf({ id: "ma-10", lastActivityAt: minutesAgo(90), status: "idle", branch: "ten" }),
      sessionOf({
        id: "ma-int-456",
        lastActivityAt: minutesAgo(5),
        branch: "int-456-ui-update",
        pullRequest: { url: "https://github.com/owner/my-app/pull/89", state: "open" },
      }),
      sessionOf({ id: "ma-2", lastActivityAt: minutesAgo(2 * 1440), branch: null }),
      sessionOf({ id: "ab-1", project: "abc", lastActivityAt: minutesAgo(1) }),
      sessionOf({ id: "ma-3", status: "killed" }),
      sessionOf({ id: "ma-4", role: "orchestrator" }),
    ];
    expect(sessionLines(sessions, list, plain, now)).toEqual([
      "abc:",
      "  ab-1  (1m)  some-branch  [working]",
      "",
      "my-app:",
      "  ma-2  (2d)  [working]",
      "  ma-10  (1h)  ten  [idle]",
      "  ma-int-456  (5m)  int-456-ui-update  [working]  https://github.com/owner/my-app/pull/89",
      "1 terminated session hidden. Use --include-terminated to show.",
    ]);
  });

  test("[CLI-6] hidden sessions are counted, and an empty list shows the next step", () => {
    const killed = Array.from({ length: 20 }, (_, at) => sessionOf({ id: `ma-${at + 1}`, status: "exited" }));
    expect(sessionLines(killed, list, plain, now)).toEqual([
      "20 terminated sessions hidden. Use --include-terminated to show.",
    ]);
    expect(sessionLines([], list, plain, now)).toEqual(["No sessions. Start one with holdfast spawn."]);
    expect(sessionLines(killed, { ...list, includeTerminated: true }, plain, now)).toHaveLength(21);
  });

  test("[CLI-6] --all adds orchestrators and ends each line with the role", () => {
    const sessions = [
      sessionOf({ id: "ma-2", role: "orchestrator", branch: null, status: "needs_input" }),
      sessionOf({ id: "ma-1" }),
    ];
    expect(sessionLines(sessions, { ...list, all: true }, plain, now)).toEqual([
      "my-app:",
      "  ma-1  (5m)  some-branch  [working]  worker",
      "  ma-2  (5m)  [needs_input]  orchestrator",
      "    Asks: The agent waits for an answer",
      "    Answer: holdfast attach ma-2",
    ]);
  });

  test("[CLI-9] id green, age dim, branch cyan, status dim, pull request blue", () => {
    const session = sessionOf({ id: "ma-1", pullRequest: { url: "https://x/1", state: "open" } });
    expect(sessionLines([session], list, makePaint(true), now)[1]).toBe(
      "  \u001b[32mma-1\u001b[39m  \u001b[2m(5m)\u001b[22m  \u001b[36msome-branch\u001b[39m  \u001b[2m[working]\u001b[22m  \u001b[34mhttps://x/1\u001b[39m",
    );
  });

  test("[CLI-8] a branch cannot write to the terminal", () => {
    const line = sessionLines([sessionOf({ id: "ma-1", branch: "a\u001b]0;x\u0007b" })], list, plain, now)[1];
    expect(line).toBe("  ma-1  (5m)  a ]0;x b  [working]");
  });
});

test("status groups sessions by what they need", () => {
  const sessions = [
    sessionOf({ id: "ma-2", status: "failed", reason: "3 crashes in 60 s" }),
    sessionOf({ id: "ma-1", status: "working" }),
    sessionOf({ id: "ma-3", status: "killed" }),
    sessionOf({ id: "ma-10", status: "needs_input" }),
  ];
  expect(statusLines(sessions, { includeTerminated: false }, plain, now).map(({ text }) => text)).toEqual([
    "Needs you (2)",
    "  ma-2   failed        5m  claude  some-branch  Some work",
    "    3 crashes in 60 s",
    "    Restore: holdfast session restore ma-2",
    "  ma-10  needs_input   5m  claude  some-branch  Some work",
    "    Asks: The agent waits for an answer",
    "    Answer: holdfast attach ma-10",
    "",
    "Working (1)",
    "  ma-1   working       5m  claude  some-branch  Some work",
    "1 terminated session hidden. Use --include-terminated to show.",
  ]);
});

describe("[CLI-25] lists name the request and the command that answers it", () => {
  const question = { requestId: "r", title: "Run rm -rf build?", options: [] };
  const chat = sessionOf({ id: "ma-1", kind: "chat", status: "needs_input", permissions: [question, question] });
  const terminal = sessionOf({
    id: "ma-2",
    status: "needs_input",
    reason: "Claude Code asks whether to trust this folder",
  });
  const failed = sessionOf({
    id: "ma-3",
    kind: "chat",
    status: "idle",
    needsYou: true,
    reason: "its last turn failed",
  });
  const running = sessionOf({ id: "ma-4", status: "running", needsYou: false });
  const asked = [
    "    Asks: Run rm -rf build? (and 1 more)",
    "    Answer: holdfast acp approve ma-1 r (or deny); all of it: holdfast acp questions ma-1",
    "    Asks: Claude Code asks whether to trust this folder",
    "    Answer: holdfast attach ma-2",
    "    its last turn failed",
  ];

  test("session ls", () => {
    const lines = sessionLines([chat, terminal, failed, running], { all: false, includeTerminated: false }, plain, now);
    expect(lines.filter((line) => line.startsWith("    "))).toEqual(asked);
  });

  test("status lists a failed turn under the sessions that need you, and a silent agent elsewhere", () => {
    const lines = statusLines([chat, terminal, failed, running], { includeTerminated: false }, plain, now);
    const texts = lines.map(({ text }) => text);
    expect(texts[0]).toBe("Needs you (3)");
    expect(texts.filter((line) => line.startsWith("    "))).toEqual(asked);
    expect(texts.slice(-2)).toEqual(["Working (1)", "  ma-4  running       5m  claude  some-branch  Some work"]);
  });

  test("session show", () => {
    expect(showLines(chat, plain, now)).toEqual(
      expect.arrayContaining([
        "  Status:        needs_input",
        "  Asks:          Run rm -rf build? (and 1 more)",
        "  Answer:        holdfast acp approve ma-1 r (or deny); all of it: holdfast acp questions ma-1",
      ]),
    );
    expect(showLines(failed, plain, now)).toContain("  Status:        idle: its last turn failed");
  });
});

describe("[CLI-26] lines are cut to a terminal's width", () => {
  test.each([
    ["plain", 5, "plain"],
    ["too long", 5, "too …"],
    ["\u001b[32mgreen\u001b[39m", 5, "\u001b[32mgreen\u001b[39m"],
    ["\u001b[32mgreener\u001b[39m", 5, "\u001b[32mgree…\u001b[0m"],
    ["漢字漢字", 8, "漢字漢字"],
    ["漢字漢字", 7, "漢字漢…"],
    ["漢字漢字", 6, "漢字…"],
    ["e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"],
    ["anything", Infinity, "anything"],
  ])("%j in %d columns", (line, columns, text) => expect(cut(line, columns)).toBe(text));

  test("[CLI-27] and to its height, with the sessions that do not fit counted", () => {
    const sessions = Array.from({ length: 61 }, (_, at) => sessionOf({ id: `ma-${at + 1}`, status: "idle" }));
    const asks = sessionOf({ id: "ma-99", status: "needs_input" });
    const lines = statusLines([...sessions, asks], { includeTerminated: false }, plain, now);
    const shown = fitted(lines, { columns: 30, rows: 24 });
    expect(shown).toHaveLength(24);
    expect(shown.slice(0, 2)).toEqual(["Needs you (1)", "  ma-99  needs_input   5m  cl…"]);
    expect(shown.at(-1)).toBe("… and 44 more sessions");
    expect(shown.every((line) => line.length <= 30)).toBe(true);
    expect(fitted(lines, { columns: 80, rows: lines.length })).toHaveLength(lines.length);
  });
});

describe("[CLI-10] cleanup prints known lines", () => {
  test("dry run", () => {
    const lines = [
      { session: "ao-int-1235", outcome: "would-kill" as const, why: "merged" },
      { session: "ao-int-1234", outcome: "would-kill" as const, why: null },
    ];
    expect(cleanupLines(lines, true)).toEqual([
      "Checking for completed sessions...",
      "",
      "  Would kill ao-int-1234",
      "  Would kill ao-int-1235",
      "",
      "Dry run complete. 2 sessions would be cleaned.",
    ]);
  });

  test("for real, with an error and a skipped one", () => {
    const lines = [
      { session: "ao-1", outcome: "cleaned" as const, why: null },
      { session: "ao-2", outcome: "error" as const, why: "Worktree not found" },
      { session: "ao-3", outcome: "skipped" as const, why: "the issue tracker is not known" },
    ];
    expect(cleanupLines(lines, false)).toEqual([
      "Checking for completed sessions...",
      "",
      "  Cleaned: ao-1",
      "  Error cleaning ao-2: Worktree not found",
      "  Skipped: ao-3 (the issue tracker is not known)",
      "",
      "Cleanup complete. 1 session cleaned.",
    ]);
  });

  test("nothing to do", () => {
    expect(cleanupLines([], false)).toEqual([
      "Checking for completed sessions...",
      "",
      "Cleanup complete. 0 sessions cleaned.",
    ]);
  });
});

test.each<[StopOutcome, string, number]>([
  [{ stop: "not-running" }, "Holdfast is not running.", 0],
  [
    { stop: "stopped", answer: { kept: 3, halted: [], remaining: [] }, ended: "gone" },
    "Daemon stopped. 3 sessions keep running (holdfast start to supervise them again).",
    0,
  ],
  [
    { stop: "stopped", answer: { kept: 1, halted: [], remaining: [] }, ended: "gone" },
    "Daemon stopped. 1 session keeps running (holdfast start to supervise it again).",
    0,
  ],
  [
    { stop: "stopped", answer: { kept: 0, halted: [], remaining: [] }, ended: "gone" },
    "Daemon stopped. No sessions were running.",
    0,
  ],
  [
    { stop: "stopped", answer: { kept: 0, halted: ["a-1", "a-2"], remaining: [] }, ended: "gone" },
    "Daemon stopped. 2 sessions stopped: a-1, a-2.",
    0,
  ],
  [
    { stop: "stopped", answer: null, ended: "killed" },
    "Daemon stopped. Its sessions keep running (holdfast start to supervise them again).",
    0,
  ],
  [
    { stop: "still-halting", answer: { kept: 0, halted: [], remaining: ["a-10", "a-2"] } },
    "Still running: a-2, a-10.",
    1,
  ],
])("[CLI-49] stop %j reports what happened to sessions", (outcome, line, code) => {
  const printed: unknown[] = [];
  const print: Context["print"] = (_, text, hasFailed = false) => {
    printed.push(text?.[0]);
    return hasFailed ? 1 : 0;
  };
  expect([printStop({ print }, outcome), ...printed]).toEqual([code, line]);
});

test("[CLI-32] restore and spawn print pasteable commands", () => {
  const session = sessionOf({ id: "ma-1" });
  expect(restoredLines(session)).toEqual([
    "Session ma-1 restored.",
    "  Worktree: /trees/ma-1",
    "  Branch:   some-branch",
    "  Attach:   holdfast attach ma-1",
  ]);
  expect(spawnedLines(session).at(-1)).toBe("SESSION=ma-1");
  expect(spawnedLines(sessionOf({ id: "ma-1", branch: null, attach: null }))).toEqual([
    "Session ma-1 is running (claude, my-app).",
    "  Worktree: /trees/ma-1",
    "  Attach:   holdfast attach ma-1",
    "SESSION=ma-1",
  ]);
});

test("batch-spawn has a line for each issue and a sum", () => {
  const results = [
    { issue: "101", session: "ma-101", error: null },
    { issue: "102", session: null, error: "no such branch" },
  ] as const;
  expect(results.map(batchLine)).toEqual(["  Spawned: ma-101 (101)", "  Error spawning 102: no such branch"]);
  expect(batchSummary(results)).toBe("1 session spawned, 1 failed.");
});

test.each([
  ["delivered", null, "delivered"],
  ["queued", "the session is starting", "queued (the session is starting)"],
  ["typed", null, "typed"],
  ["unconfirmed", "no word of it", "unconfirmed (no word of it)"],
  ["refused", "it is killed", "refused (it is killed)"],
] as const)("a receipt %s", (disposition, reason, line) => expect(receiptLine({ disposition, reason })).toBe(line));

test("session show prints why it ended", () => {
  const session = sessionOf({
    id: "ma-1",
    status: "failed",
    reason: "3 crashes",
    processes: [{ pid: 7, startedAt: null, what: "agent" }],
    end: { how: "crash", by: "agent", at: minutesAgo(3), exitCode: 1, signal: null, lastLines: ["boom\u001b[0m"] },
  });
  const lines = showLines(session, plain, now);
  expect(lines).toContain("  Status:        failed: 3 crashes");
  expect(lines).toContain("  Process:       7 (agent)");
  expect(lines.slice(-2)).toEqual(["  Ended:         crash by agent (exit code 1), 3m ago", "    boom [0m"]);
});

test("[CLI-17] session show names the trash entry that holds the worktree, and one prompt is one prompt", () => {
  const here = showLines(sessionOf({ id: "ma-1", queued: 2 }), plain, now);
  expect(here).toContain("  Worktree:      /trees/ma-1");
  expect(here).toContain("  Queued:        2 prompts");
  const trashed = showLines(sessionOf({ id: "ma-1", queued: 1, trash: "ma-1-abc" }), plain, now);
  expect(trashed).toContain("  Worktree:      in the trash as ma-1-abc");
  expect(trashed).toContain("  Queued:        1 prompt");
});

test("info, events, logs, trash and findings are readable", () => {
  const info = {
    state: "running",
    pid: 7,
    version: "1.0.0",
    build: "1.0.0+a",
    url: "http://127.0.0.1:1",
    socket: "/s",
  } as const;
  const other = { version: "9.9.9", build: "newer" };
  expect(infoLines({ ...info, home: "/h", startedAt: minutesAgo(5), managedBy: null }, now, other).at(-1)).toBe(
    "Installed:  9.9.9 (build newer); to use it: holdfast restart",
  );
  expect(infoLines({ ...info, home: "/h", startedAt: minutesAgo(5), managedBy: null }, now)).toEqual([
    "State:      running (pid 7, for 5m)",
    "Address:    http://127.0.0.1:1",
    "Socket:     /s",
    "Home:       /h",
    "Version:    1.0.0 (build 1.0.0+a)",
  ]);
  expect(eventLine({ seq: 3, at: "2026-01-01T10:00:00.000Z", type: "turn.ended", stopReason: "end_turn" }, plain)).toBe(
    "   3  2026-01-01 10:00:00  turn.ended  stopReason=end_turn",
  );
  expect(logLine('{"at":"2026-01-01T10:00:00.000Z","level":"warn","message":"m","n":1}', plain)).toBe(
    "2026-01-01 10:00:00.000  warn   m  n=1",
  );
  expect(logLine("not json\u0007", plain)).toBe("not json");
  const entry = { id: "t1", session: "ma-1", path: "/p", branch: "b", ref: null, trashedAt: minutesAgo(60) };
  const kept = { ...entry, keptUntil: "2026-01-15", uncommitted: 2, unpushed: ["a b"] };
  expect(trashLines([kept], plain, now)).toEqual([
    "t1  ma-1  (1h)  b  2 uncommitted files, 1 unpushed commit  kept until 2026-01-15",
    "  /p",
  ]);
  const found = {
    check: "git",
    level: "fail",
    message: "git is not on PATH.",
    fix: "install git",
    fixable: false,
  } as const;
  expect(findingLines([found], new Set(), plain)).toEqual([
    "FAIL  git  git is not on PATH.",
    "           -> install git",
    "",
    "1 failure, 0 warnings.",
  ]);
});
