import { describe, expect, test } from "vitest";
import { sessionOf, type Script } from "../../test-support/stand-in.ts";
import { daemon, projectOf } from "../commands.fixture.ts";

describe("[CLI-6] session ls and status", () => {
  const sessions = [
    sessionOf({ id: "ma-1" }),
    sessionOf({ id: "ma-2", status: "killed" }),
    sessionOf({ id: "ma-3", role: "orchestrator" }),
  ];
  const script: Script = {
    "GET /api/sessions": { answer: sessions },
    "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
  };
  const ids = (text: string): string[] => (JSON.parse(text) as { id: string }[]).map(({ id }) => id);

  test("JSON follows the same flags", async () => {
    const { run } = await daemon(script);
    expect(ids((await run(["session", "ls", "--json"])).out)).toEqual(["ma-1"]);
    expect(ids((await run(["session", "ls", "--json", "-a", "--include-terminated"])).out)).toEqual([
      "ma-1",
      "ma-2",
      "ma-3",
    ]);
    expect(ids((await run(["status", "--json"])).out)).toEqual(["ma-1", "ma-3"]);
  });

  test("an unknown project is named with the valid ones", async () => {
    const { run } = await daemon({ ...script, "GET /api/sessions": { answer: [] } });
    expect(await run(["session", "ls", "-p", "other"])).toEqual({
      code: 1,
      out: "",
      err: "Unknown project: other\nValid projects: my-app",
    });
  });

  test("[CLI-11] an agent's call carries its session's name", async () => {
    const { run, asked } = await daemon(script);
    await run(["session", "ls"], { env: { HOLDFAST_SESSION: "ma-3" } });
    expect(asked.at(-1)?.actor).toBe("session:ma-3");
  });
});
