import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Home } from "../../../../test/harness/home.ts";
import type { ProjectJson } from "../../../contract/project.ts";
import type { SessionJson } from "../../../contract/session.ts";
import { sessionOf, type Script, type StandIn } from "../../test-support/stand-in.ts";
import { daemon as standInDaemon, failure } from "../commands.fixture.ts";

const daemon = (script: Script): Promise<StandIn> =>
  standInDaemon({
    "POST /api/projects": { answer: [] },
    "POST /api/login-link": { answer: { url: "http://127.0.0.1:9/#once", expiresAt: null } },
    ...script,
  });

const refused = failure(422, "preflight-failed", "The demo agent has no chat yet.", "Wait for it.");

test("[DEMO-14] the scratch project is a repository with one commit, independent of the user's settings", async () => {
  const { run, home } = await daemon({
    "GET /api/sessions": { answer: [] },
    "POST /api/sessions": { answer: sessionOf({ id: "demo-1", title: "A title" }) },
  });
  // As inside of a hook of another repository.
  const ran = await run(["demo", "--no-open"], { env: { GIT_DIR: "/nowhere", GIT_INDEX_FILE: "/nowhere/index" } });
  const path = join(home, "demo/demo-app");
  expect(ran).toEqual({
    code: 0,
    err: "",
    out: expect.stringContaining(`Created a scratch project: ${path}\nSession demo-1 is running. A title.\n`),
  });
  const git = (...args: string[]): string => execFileSync("git", ["-C", path, ...args], { encoding: "utf8" }).trim();
  expect(git("log", "--all", "--format=%an <%ae> %s %D")).toBe(
    "Holdfast demo <demo@localhost> A project to try things on HEAD -> main",
  );
  expect(git("status", "--porcelain")).toBe("");
  expect(readdirSync(join(home, "demo"))).toEqual(["demo-app"]);
});

test("[DEMO-15] a kind that cannot start is reported with its reason, and the other starts; none at all is an error", async () => {
  const half = await daemon({
    "GET /api/sessions": { answer: [sessionOf({ id: "demo-1", project: "demo", agent: "demo", status: "idle" })] },
    "POST /api/sessions": refused,
  });
  const ran = await half.run(["demo", "--no-open"]);
  expect([ran.code, ran.err]).toEqual([
    0,
    "Cannot start the chat session: The demo agent has no chat yet.\nWait for it.",
  ]);
  expect(ran.out).toContain("Session demo-1 already exists [idle].\n  Attach: holdfast attach demo-1\n");
  expect(ran.out).toMatch(/\nhttp:\/\/127\.0\.0\.1:9\/#once\n?$/);
  expect(half.asked.filter(({ line }) => line === "POST /api/sessions").map(({ body }) => body)).toEqual([
    expect.objectContaining({ project: "demo", agent: "demo", kind: "chat" }),
  ]);

  const none = await daemon({ "GET /api/sessions": { answer: [] }, "POST /api/sessions": refused });
  const failed = await none.run(["demo", "--no-open"]);
  expect([failed.code, failed.err.match(/Cannot start/g)]).toEqual([1, ["Cannot start", "Cannot start"]]);
});

test("[DEMO-14, DEMO-15] the demo starts both kinds; a second run only lists them", async () => {
  await using home = new Home();
  await home.ok(["start", "--port", "0"]);
  const first = await home.ok(["demo", "--no-open"]);
  expect(first).toMatch(/\nhttp:\/\/127\.0\.0\.1:\d+\/\S+\n$/);
  const sessions = await home.json<SessionJson[]>(["session", "ls"]);
  expect(sessions.map(({ id, kind, agent }) => [id, kind, agent])).toEqual([
    ["demo-1", "terminal", "demo"],
    ["demo-2", "chat", "demo"],
  ]);
  const projects = await home.json<ProjectJson[]>(["project", "ls"]);
  expect(projects.map(({ id, prefix, agent }) => [id, prefix, agent])).toEqual([["demo", "demo", "demo"]]);

  const second = await home.ok(["demo", "--no-open"]);
  expect(second).toMatch(/^The demo project already exists: .*\nSession demo-1 already exists \[\w+\]\.\n/);
  expect((await home.json<SessionJson[]>(["session", "ls"])).map(({ id }) => id)).toEqual(["demo-1", "demo-2"]);
});
