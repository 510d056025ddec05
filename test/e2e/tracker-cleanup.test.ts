import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TrackedHome } from "../harness/tracked.ts";

test("[TRACKER-36, TRACKER-37] merged and closed sessions are cleaned up, squashes recognized, and unmerged work is listed and kept", async () => {
  await using home = await TrackedHome.start();
  const { github } = home;
  const squashed = await home.worked("one.txt");
  const more = await home.worked("two.txt");
  const open = await home.worked("three.txt");
  const byHand = await home.worked("four.txt");
  const setBack = await home.worked("five.txt");
  for (const { branch, sha } of [squashed, more, open, byHand, setBack]) github.openPullRequest({ branch, sha });
  await home.refresh();
  const numberOf = async (id: string): Promise<number> => (await home.show(id)).pullRequest?.number ?? 0;

  await home.squash(squashed.branch, await numberOf(squashed.id));
  await home.git(home.repo, ["push", "-q", "origin", "--delete", squashed.branch]);
  await home.squash(more.branch, await numberOf(more.id));
  await home.commit(more.path, "late.txt", false);
  writeFileSync(join(more.path, "notes.txt"), "not committed\n");
  // Squashed by hand, and its pull request closed: only the content shows it.
  await home.squash(byHand.branch, await numberOf(byHand.id));
  github.pull(await numberOf(byHand.id)).state = "closed";
  // Closed, and started over: its base has everything, because there is nothing.
  github.closePullRequest(await numberOf(setBack.id));
  await home.git(setBack.path, ["reset", "-q", "--hard", "HEAD~1"]);
  await home.git(home.repo, ["fetch", "-q", "--prune", "origin"]);

  const dry = await home.ok(["session", "cleanup", "--dry-run"]);
  expect(dry.split("\n")).toEqual([
    "Checking for completed sessions...",
    "",
    `  Would kill ${squashed.id}`,
    `  Would kill ${more.id}`,
    "    1 uncommitted file",
    "    1 commit that was not merged:",
    expect.stringMatching(/^ {6}[0-9a-f]+ add late.txt$/),
    `  Skipped: ${open.id} (its pull request is not merged)`,
    `  Would kill ${byHand.id}`,
    `  Skipped: ${setBack.id} (its pull request is not merged)`,
    "",
    "Dry run complete. 3 sessions would be cleaned.",
    "",
  ]);
  expect(existsSync(more.path)).toBe(true);

  const done = await home.ok(["session", "cleanup"]);
  expect(done).toContain(`  Cleaned: ${squashed.id}\n  Cleaned: ${more.id}\n    1 uncommitted file\n`);
  expect(done).toMatch(new RegExp(`Kept in the trash as \\S+ Get it back: holdfast session restore ${more.id}\n`));
  expect(done).toContain("Cleanup complete. 3 sessions cleaned.");
  expect((await home.show(more.id)).status).toBe("killed");
  await home.ok(["session", "restore", more.id]);
  expect(existsSync(join(more.path, "notes.txt"))).toBe(true);
  expect(await home.git(more.path, ["log", "-1", "--format=%s"])).toBe("add late.txt");
});

test("[TRACKER-36] a closed issue completes a session, but only once the tracker confirms it", async () => {
  await using home = await TrackedHome.start();
  const number = home.github.openIssue({ title: "UI update", body: "say: ready" });
  const { id } = await home.json(["spawn", "my-app", String(number), "--agent", "demo", "--kind", "chat"]);
  await home.ended(id);
  const cleanup = (): Promise<string> => home.ok(["session", "cleanup", "--dry-run"]);
  expect(await cleanup()).toContain(`  Skipped: ${id} (its issue is open)\n`);
  home.github.closeIssue(number);
  expect(await cleanup()).toContain(`  Would kill ${id}\n`);
  // It may have been reopened while the tracker was unreachable.
  home.github.fail({ how: "status", status: 500 }, { times: 1000 });
  expect(await cleanup()).toContain(`  Skipped: ${id} (could not check whether its issue is closed)\n`);
  await home.ok(["stop"]);
  await home.ok(["start"]);
  expect(await cleanup()).toContain(`  Skipped: ${id} (could not check whether its issue is closed)\n`);
});

test("[TRACKER-45, TRACKER-36] an archived session is completed too when its pull request is merged, and no reaction runs", async () => {
  await using home = await TrackedHome.start({ reactions: { "ci-failed": { action: "send-to-agent" } } });
  const { github } = home;
  const { id, branch, sha } = await home.worked();
  const number = github.openPullRequest({ branch, sha });
  await home.refresh();
  await home.ok(["session", "archive", id]);
  github.setCheck(number, "unit", "failed");
  await home.refresh();
  expect((await home.show(id)).pullRequest).toMatchObject({ checks: { failed: 1 } });
  expect(await home.ofType(id, "reaction.fired")).toEqual([]);
  expect(await home.ofType(id, "notification")).toEqual([]);
  expect(await home.ok(["session", "cleanup"])).toContain(`  Skipped: ${id} (its pull request is not merged)\n`);
  await home.squash(branch, number);
  // The tracker does not confirm it now, and nothing else is claimed.
  github.fail({ how: "status", status: 502 }, { times: 1000 });
  const unheard = `  Skipped: ${id} (could not check whether its pull request is merged)\n`;
  expect(await home.ok(["session", "cleanup"])).toContain(unheard);
  github.heal();
  home.clockAhead(61_000);
  expect(await home.ok(["session", "cleanup"])).toContain(`  Cleaned: ${id}\n`);
  expect((await home.show(id)).status).toBe("killed");
});
