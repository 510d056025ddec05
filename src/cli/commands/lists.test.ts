import { expect, test } from "vitest";
import { daemon, projectOf } from "./commands.fixture.ts";

test("[TRASH-12] trash empty --older-than goes by counted days, whatever the clock reads", async () => {
  const entry = (id: string, days?: number) => ({
    id,
    session: id,
    path: `/t/${id}`,
    branch: null,
    ref: null,
    uncommitted: 0,
    unpushed: [],
    trashedAt: "2020-01-01T00:00:00.000Z",
    ...(days === undefined ? {} : { days }),
  });
  const { run, asked } = await daemon({
    "GET /api/trash": { answer: [entry("new", 0), entry("edge", 7), entry("old", 8), entry("unknown")] },
    "POST /api/trash/empty": { answer: [entry("old", 8)] },
  });
  expect((await run(["trash", "empty", "--older-than", "7", "--yes"])).out).toBe("Deleted 1 worktree.");
  expect(asked.flatMap(({ line, body }) => (line.startsWith("POST") ? [body] : []))).toEqual([{ id: "old" }]);
  expect((await run(["trash", "empty", "--older-than", "8", "--yes"])).out).toBe("Nothing to delete.");
});

test("lists of the rest, and dashboard --no-open prints only the link", async () => {
  const { run } = await daemon({
    "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
    "GET /api/trash": { answer: [] },
    "POST /api/login-link": { answer: { url: "http://127.0.0.1:1/#code=x", expiresAt: null } },
    "GET /api/sessions/ma-1/events": {
      answer: [{ seq: 1, at: "2026-01-01T00:00:00.000Z", type: "notice", text: "hi" }],
    },
    "DELETE /api/projects/my-app": { answer: projectOf("my-app", "/x") },
  });
  expect((await run(["project", "ls"])).out).toBe("my-app  my-app-*  claude (terminal)  0 sessions  /x");
  expect((await run(["project", "rm", "my-app"])).out).toBe("Project my-app removed. Files on disk were not changed.");
  expect((await run(["trash", "ls"])).out).toBe("The trash is empty.");
  expect((await run(["trash", "empty", "--yes"])).out).toBe("Nothing to delete.");
  expect((await run(["dashboard", "--no-open"])).out).toBe("http://127.0.0.1:1/#code=x");
  expect((await run(["events", "ma-1", "--json"])).out).toBe(
    '{"seq":1,"at":"2026-01-01T00:00:00.000Z","type":"notice","text":"hi"}',
  );
  expect((await run(["events", "ma-1", "--since", "x"])).code).toBe(2);
});
