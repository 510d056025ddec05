/** A home and a database made by 0.1, before the redesign. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { unpackHomeBefore } from "../harness/home-before.ts";

test("[HOME-10] a home of the previous build keeps its sessions, conversations, worktrees and trash", async () => {
  await using home = new ChatHome();
  unpackHomeBefore(home);
  home.repo = join(home.directory, "my-app");
  await home.ok(["start", "--port", "0"]);

  const listed = await home.json<{ id: string; title: string; status: string }[]>([
    "session",
    "ls",
    "--include-terminated",
  ]);
  expect(listed.map(({ id, title }) => [id, title])).toEqual([
    ["ma-1", "A terminal"],
    ["ma-2", "Two turns"],
    ["ma-3", "ask: may I?"],
    ["ma-4", "say: bye"],
    ["ma-5", "say: archived"],
    ["ma-6", "say: snoozed"],
  ]);
  const status = Object.fromEntries(listed.map((session) => [session.id, session.status]));
  expect(status).toMatchObject({ "ma-2": "stopped", "ma-4": "killed", "ma-5": "archived", "ma-6": "snoozed" });
  expect(await home.said("ma-2")).toBe("first answer\nsecond answer\n");
  const history = await home.ok(["acp", "history", "ma-2"]);
  expect(history.indexOf("first answer")).toBeLessThan(history.indexOf("second answer"));

  const worktree = (id: string): string => join(home.home, "worktrees/my-app", id);
  expect(readFileSync(join(worktree("ma-1"), "draft.txt"), "utf8")).toBe("uncommitted\n");
  expect(await home.turn("ma-2", "say: third answer")).toMatchObject({
    text: "third answer\n",
    stopReason: "end_turn",
  });
  expect((await home.ofType("ma-2", "context.reset")).length).toBe(0);

  expect(existsSync(worktree("ma-4"))).toBe(false);
  await home.ok(["session", "restore", "ma-4"]);
  expect(readFileSync(join(worktree("ma-4"), "kept.txt"), "utf8")).toBe("in the trash\n");
  expect(await home.ok(["trash", "ls"])).toContain("ma-7");

  // The repository is still trusted, and new ids come after all used ones.
  const spawned = await home.ok(["spawn", "my-app", "--agent", "demo", "--prompt", "say: hello"], {
    trust: "as-given",
  });
  expect(spawned).toContain("SESSION=ma-8");
  expect((await home.cli(["doctor"])).stdout).not.toContain("does not know");
});
