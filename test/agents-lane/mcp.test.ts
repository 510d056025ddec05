/** The real Codex, which starts MCP servers without the environment of its launch. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { ChatLane, patienceMs } from "./chat-lane.ts";

test("[AUTHORIZE-9] `holdfast mcp` under Codex reaches its own daemon as its own session", async () => {
  const bin = join(import.meta.dirname, "../../bin/holdfast");
  await using lane = await ChatLane.open("codex", (home) =>
    appendFileSync(
      join(home.directory, "agent/.codex/config.toml"),
      `\n[mcp_servers.holdfast]\ncommand = ${JSON.stringify(bin)}\nargs = ["mcp"]\n`,
    ),
  );
  const shell = (await lane.home.json(["spawn", "my-app", "--role", "shell"])).id;
  await lane.spawn(
    [
      "call: mcp__holdfast/list_sessions {}",
      `call: mcp__holdfast/get_session {"session":"${shell}"}`,
      "say: done",
    ].join("\n"),
  );
  await until(
    "both answers",
    async () => {
      const { permissions } = await lane.show();
      if (permissions.length > 0) await lane.answer(permissions[0]!.requestId);
      return lane.out().includes("is a shell, which only the user may use");
    },
    patienceMs,
  );
  // Its own session is in the list, and the user's shell is not.
  expect(lane.out()).toContain(`\\"id\\": \\"${lane.id}\\"`);
  expect(lane.out()).not.toContain(`\\"id\\": \\"${shell}\\"`);
  expect((await lane.ended(`${lane.id}-first`)).stopReason).toBe("end_turn");
});
