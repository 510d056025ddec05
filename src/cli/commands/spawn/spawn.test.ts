import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sessionOf } from "../../test-support/stand-in.ts";
import { daemon, failure, projectOf } from "../commands.fixture.ts";

describe("spawn", () => {
  test("[CLI-12] outside of any registered project it prints the next step", async () => {
    const { run } = await daemon({ "GET /api/projects": { answer: [] } });
    const ran = await run(["spawn", "--prompt", "x"]);
    expect([ran.code, ran.err.split("\n")[0]]).toEqual([1, "No holdfast.yaml found"]);
    expect(ran.err).toContain("holdfast init");
    // One that names a project did not forget to.
    expect(await run(["spawn", "nope"])).toEqual({
      code: 1,
      out: "",
      err: "Unknown project: nope\nNo project is registered yet: run holdfast init in a repository.",
    });
  });

  test("[CLI-12] inside a repository, and inside one of its worktrees, the project may be left out", async () => {
    const stand = await daemon({});
    const repository = join(realpathSync(stand.home), "repository");
    const worktree = join(realpathSync(stand.home), "elsewhere");
    const gitDirectory = join(repository, ".git/worktrees/elsewhere");
    mkdirSync(gitDirectory, { recursive: true });
    writeFileSync(join(gitDirectory, "HEAD"), "ref: refs/heads/elsewhere\n");
    writeFileSync(join(gitDirectory, "commondir"), "../..\n");
    mkdirSync(worktree);
    writeFileSync(join(worktree, ".git"), `gitdir: ${gitDirectory}\n`);
    const inside = await daemon({
      "GET /api/projects": { answer: [projectOf("my-app", repository), projectOf("other", "/nowhere")] },
      "POST /api/sessions": { answer: sessionOf({ id: "ma-7" }) },
    });
    for (const cwd of [repository, worktree]) {
      const ran = await inside.run(["spawn", "7"], { cwd });
      expect(ran.out.split("\n").at(-1)).toBe("SESSION=ma-7");
      expect(inside.asked.at(-1)?.body).toEqual({ project: "my-app", issue: "7" });
    }
    await inside.run(["spawn", "other", "--agent", "codex", "--no-wait", "--resume", "--issue", "9"], {
      cwd: repository,
    });
    expect(inside.asked.at(-1)?.body).toEqual({
      project: "other",
      issue: "9",
      agent: "codex",
      resume: true,
      wait: false,
    });
    const unknown = await inside.run(["spawn", "nope", "7"], { cwd: repository });
    expect(unknown.err).toBe("Unknown project: nope\nValid projects: my-app, other");
  });

  test("[CONTAIN-9] --contain and --network are passed on; an invalid network is refused before any request", async () => {
    const { run, asked } = await daemon({
      "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
      "POST /api/sessions": { answer: sessionOf({ id: "ma-7" }) },
    });
    await run(["spawn", "my-app", "--contain", "worktree", "--network", "a.example,b.example:8080"]);
    const contain = { mode: "worktree", network: { allow: ["a.example", "b.example:8080"] } };
    expect(asked.at(-1)?.body).toEqual({ project: "my-app", contain });
    await run(["spawn", "my-app", "--network", "off"]);
    expect(asked.at(-1)?.body).toEqual({ project: "my-app", contain: { network: "off" } });
    const before = asked.length;
    const wrong = await run(["spawn", "my-app", "--network", "https://a.example"]);
    expect([wrong.code, wrong.err.split("\n")[0]]).toEqual([
      2,
      '--network must be on, off, allow-list or hosts, not "https://a.example".',
    ]);
    expect(asked.slice(before).map(({ line }) => line)).toEqual(["GET /api/projects"]);
    expect((await run(["spawn", "my-app", "--contain", "vm"])).code).toBe(2);
  });

  test("[CLI-24] a fast spawn prints no progress and sends no further requests", async () => {
    const { run, asked } = await daemon({
      "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
      "POST /api/sessions": { answer: sessionOf({ id: "ma-7" }) },
    });
    const ran = await run(["spawn", "my-app", "7"], { terminal: true });
    expect([ran.err, ran.out.split("\n").at(-1)]).toEqual(["", "SESSION=ma-7"]);
    expect(asked.map(({ line }) => line)).toEqual(["GET /api/projects", "POST /api/sessions"]);
  });

  test("batch-spawn gives each issue its result and exits 1 if one failed", async () => {
    const { run } = await daemon({
      "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
      "POST /api/sessions": failure(422, "preflight-failed", "no agent"),
    });
    const ran = await run(["batch-spawn", "1", "2", "1", "-p", "my-app"]);
    expect(ran.code).toBe(1);
    expect(ran.out.split("\n")).toEqual([
      "  Error spawning 1: no agent",
      "  Error spawning 2: no agent",
      "0 sessions spawned, 2 failed.",
    ]);
  });
});
