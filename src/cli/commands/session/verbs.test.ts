import { describe, expect, test } from "vitest";
import { sessionOf } from "../../test-support/stand-in.ts";
import { daemon, failure, verbResponse } from "../commands.fixture.ts";

describe("[CLI-5] verbs print the sentences people know", () => {
  test("kill", async () => {
    const notes = ["1 uncommitted file kept in the trash as t1.", "Get it back: holdfast session restore ma-1"];
    const { run, asked } = await daemon({
      "POST /api/sessions/ma-1/kill": { answer: verbResponse("ma-1", { notes }) },
    });
    expect(await run(["session", "kill", "ma-1"])).toEqual({
      code: 0,
      err: "",
      out: `Session ma-1 killed.\n  ${notes[0]}\n  ${notes[1]}`,
    });
    expect(asked.at(-1)).toEqual({ line: "POST /api/sessions/ma-1/kill", body: {}, actor: undefined });
  });

  test("kill of an unknown session", async () => {
    const { run } = await daemon({ "GET /api/sessions": { answer: [sessionOf({ id: "ma-12" })] } });
    const ran = await run(["session", "kill", "ma-21"]);
    expect(ran.code).toBe(1);
    expect(ran.err.split("\n")).toEqual([
      "Failed to kill session ma-21: Session not found",
      "Did you mean ma-12? List sessions: holdfast session ls --include-terminated",
    ]);
  });

  test("kill that leaves something, and --no-wait", async () => {
    const remaining = [{ pid: 7, what: "agent" }];
    const notes = ["The worktree waits for agent (pid 7)."];
    const answer = verbResponse("ma-1", { remaining, done: false, notes });
    const verbs = { kill: "killed", stop: "stopped", delete: "deleted", archive: "archived", snooze: "snoozed" };
    const { run, asked } = await daemon(
      Object.fromEntries(Object.keys(verbs).map((verb) => [`POST /api/sessions/ma-1/${verb}`, { answer }])),
    );
    for (const [verb, word] of Object.entries(verbs)) {
      const ran = await run(["session", verb, "ma-1", ...(verb === "delete" ? ["--yes"] : [])]);
      expect([verb, ran.code, ran.out.replace(/ until .*?, but/, ", but")]).toEqual([
        verb,
        0,
        `Session ma-1 will be ${word}, but some processes are still running:\n  Still running: agent (pid 7)\n  ${notes[0]}`,
      ]);
    }
    expect(JSON.parse((await run(["session", "kill", "ma-1", "--json"])).out)).toMatchObject({
      id: "ma-1",
      done: false,
      remaining,
      notes,
    });
    expect((await run(["session", "kill", "ma-1", "--no-wait"])).out).toContain("Session ma-1 will be killed.");
    expect(asked.at(-1)?.body).toEqual({ wait: false });
  });

  test("restore and its errors", async () => {
    const { run } = await daemon({
      "POST /api/sessions/ma-1/restore": {
        answer: verbResponse("ma-1", { notes: ["Conversation context reset: gone"] }),
      },
      "POST /api/sessions/ma-2/restore": failure(409, "conflict", "Cannot restore: Session is still running", null, {
        reason: "verb-refused",
      }),
      "POST /api/sessions/ma-3/restore": failure(
        409,
        "conflict",
        "Workspace missing: /trees/ma-3",
        "Spawn a new one.",
        { reason: "worktree-missing" },
      ),
    });
    expect((await run(["session", "restore", "ma-1"])).out).toBe(
      "Session ma-1 restored.\n  Worktree: /trees/ma-1\n  Branch:   some-branch\n  Attach:   holdfast attach ma-1\n  Conversation context reset: gone",
    );
    expect(await run(["session", "restore", "ma-2"])).toEqual({
      code: 1,
      out: "",
      err: "Cannot restore: Session is still running",
    });
    expect((await run(["session", "restore", "ma-3"])).err).toBe("Workspace missing: /trees/ma-3\nSpawn a new one.");
    expect((await run(["session", "restore", "ma-4"])).err).toContain(
      "Failed to restore session ma-4: Session not found",
    );
  });

  test("snooze, rename, and delete, which asks", async () => {
    const { run, asked } = await daemon({
      "POST /api/sessions/ma-1/snooze": { answer: verbResponse("ma-1") },
      "POST /api/sessions/ma-1/delete": { answer: verbResponse("ma-1") },
      "GET /api/sessions/ma-1": { answer: sessionOf({ id: "ma-1" }) },
      "POST /api/sessions/ma-1/rename": { answer: sessionOf({ id: "ma-1", title: "New\u0007title" }) },
    });
    expect((await run(["session", "snooze", "ma-1", "--for", "30m"])).out).toMatch(/^Session ma-1 snoozed until /);
    expect(asked.at(-1)?.body).toEqual({ forMs: 1_800_000 });
    expect((await run(["session", "snooze", "ma-1", "--for", "soon"])).code).toBe(2);
    const far = await run(["session", "snooze", "ma-1", "--for", "9999d"]);
    expect([far.code, far.err.split("\n")[0]]).toEqual([2, "--for must be at most a year, not 9999d."]);
    expect((await run(["session", "snooze", "ma-1", "--for", "99999999999999w"])).code).toBe(2);
    expect((await run(["session", "rename", "ma-1", "New", "title"])).out).toBe("Session ma-1 renamed: New title");
    expect(await run(["session", "delete", "ma-1"])).toEqual({
      code: 1,
      out: "",
      err: "Nothing was deleted.\nAdd --yes to delete it.",
    });
    expect(asked.map(({ line }) => line)).not.toContain("POST /api/sessions/ma-1/delete");
    expect((await run(["session", "delete", "ma-1", "--yes"])).out).toBe("Session ma-1 deleted.");
  });

  test("--json prints the session with the verb's result, and nothing else", async () => {
    const { run } = await daemon({
      "POST /api/sessions/ma-1/stop": { answer: verbResponse("ma-1", { notes: ["a note"] }) },
    });
    expect(JSON.parse((await run(["session", "stop", "ma-1", "--json"])).out)).toMatchObject({
      id: "ma-1",
      name: "ma-1",
      done: true,
      remaining: [],
      notes: ["a note"],
    });
  });
});

test("[CLI-10] cleanup is in natural order, as JSON too", async () => {
  const line = (session: string): unknown => ({ session, outcome: "skipped", why: "idle" });
  const { run } = await daemon({ "POST /api/cleanup": { answer: ["ma-10", "ma-2", "ma-1"].map(line) } });
  const order = (text: string): string[] => [...text.matchAll(/ma-\d+/g)].map(([id]) => id);
  expect(order((await run(["session", "cleanup"])).out)).toEqual(["ma-1", "ma-2", "ma-10"]);
  expect(order((await run(["session", "cleanup", "--json"])).out)).toEqual(["ma-1", "ma-2", "ma-10"]);
});
