import { expect, test } from "vitest";
import { sessionOf } from "../../test-support/stand-in.ts";
import { chat } from "../acp/acp.fixture.ts";
import { daemon, projectOf } from "../commands.fixture.ts";

test("[CLI-14] completion asks a running daemon for names and starts none", async () => {
  const { run } = await daemon({
    "GET /api/sessions": { answer: [sessionOf({ id: "ma-1" }), sessionOf({ id: "ab-1" })] },
    "GET /api/projects": { answer: [projectOf("my-app", "/x")] },
  });
  expect((await run(["complete", "--", "session", "kill", "ma"])).out).toBe("ma-1\tworking Some work");
  expect((await run(["complete", "--", "session", "ls", "-p", ""])).out).toBe("my-app\t/x");
  expect((await run(["complete", "--", "spawn", "--kind", ""])).out).toBe("terminal\nchat");
  expect((await run(["complete", "--", "spawn", "--kind=t"])).out).toBe("--kind=terminal");
  // As bash takes --kind= apart.
  expect((await run(["complete", "--", "spawn", "--kind", "="])).out).toBe("terminal\nchat");
  expect((await run(["complete", "--", "spawn", "--kind", "=", "ch"])).out).toBe("chat");
  expect((await run(["complete", "--", "session", "kill", "ma-1", "a"])).out).toBe("ab-1\tworking Some work");
  expect((await run(["complete", "--", "send", "ma-1", "-f", ""])).out).toBe(":files");
  expect((await run(["complete", "--", "session", "ki"])).out).toMatch(/^kill\t/);
  expect((await run(["complete", "--", "info", "--"])).out).toBe("--json\tPrint JSON");
  expect((await run(["complete", "--", "comp"])).out).toMatch(/^completion\t/);
  expect((await run(["complete", "--", ""])).out).toMatch(/^init\t.*\nproject\t/);
  const down = await daemon(null);
  expect(await down.run(["complete", "--", "session", "kill", ""])).toEqual({ code: 0, out: "", err: "" });
});

test("[CLI-14] completion offers all agents: the daemon's, each once, and without one the built-in ones", async () => {
  const ids = ["claude", "demo", "shell", "mine", "mine"];
  const agents = ids.map((id) => ({ id, name: `The ${id}`, kinds: ["terminal"] }));
  const { run } = await daemon({ "GET /api/settings": { answer: { agents } } });
  expect((await run(["complete", "--", "spawn", "--agent", ""])).out).toBe(
    "claude\tThe claude\ndemo\tThe demo\nshell\tThe shell\nmine\tThe mine",
  );
  const down = await daemon(null);
  const builtIn = (await down.run(["complete", "--", "spawn", "--agent", ""])).out.split("\n");
  expect(builtIn).toEqual(expect.arrayContaining(["claude", "codex", "demo", "shell"]));
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
