import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { daemon, failure, projectOf } from "../commands.fixture.ts";

describe("init", () => {
  function repositoryIn(home: string): string {
    const path = join(home, "my-app");
    for (const name of ["objects", "refs"]) mkdirSync(join(path, ".git", name), { recursive: true });
    writeFileSync(join(path, ".git", "HEAD"), "ref: refs/heads/main\n");
    return path;
  }

  test("[CONFIG-16] writes holdfast.yaml, registers the project and names the next step", async () => {
    const { run, home, asked } = await daemon({
      "GET /api/projects": { answer: [] },
      "POST /api/projects": { answer: [projectOf("my-app", "/x")] },
      "GET /api/trust": { answer: { state: "none" } },
    });
    const path = repositoryIn(home);
    const ran = await run(["init", path]);
    expect([ran.code, ran.out]).toEqual([
      0,
      `Wrote ${path}/holdfast.yaml\nProject my-app registered (/x).\nStart a session: holdfast spawn my-app --prompt '...'`,
    ]);
    expect(asked.at(-1)).toMatchObject({ line: "POST /api/projects", body: { path } });
    expect((await run(["init", path])).out).toContain(`Kept existing ${path}/holdfast.yaml`);
  });

  test("[CONFIG-17] projects that cannot be registered leave no file, and nothing claims one", async () => {
    const { run, home } = await daemon({
      "GET /api/projects": { answer: [projectOf("other", "/other")] },
      "POST /api/projects": failure(400, "invalid", "1 problem in config.yaml", "nothing was changed"),
    });
    const path = repositoryIn(home);
    const ran = await run(["init", path]);
    expect([ran.code, ran.out]).toEqual([1, ""]);
    expect(ran.err).toContain("1 problem in config.yaml");
    expect(existsSync(join(path, "holdfast.yaml"))).toBe(false);
    writeFileSync(join(path, "holdfast.yaml"), "mine");
    await run(["init", path]);
    expect(existsSync(join(path, "holdfast.yaml"))).toBe(true);
  });

  test("[CLI-45] with --no-start and the daemon down it writes nothing", async () => {
    const { run, home } = await daemon(null);
    const path = repositoryIn(home);
    const ran = await run(["init", path, "--no-start"]);
    expect([ran.code, ran.err.split("\n")[0]]).toEqual([1, "Holdfast is not running."]);
    expect(existsSync(join(path, "holdfast.yaml"))).toBe(false);
  });
});
