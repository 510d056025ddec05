/** A restore that was interrupted after the move, and whose session is killed before it could finish. */
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

test.each(["kill", "delete"] as const)(
  "[SESSION-42] a %s that overtakes an interrupted restore moves the worktree back to the trash",
  async (verb) => {
    await using home = await ProjectHome.make();
    const { id, workspacePath } = await home.spawn();
    writeFileSync(join(workspacePath, "draft.txt"), "not committed\n");
    await home.ok(["session", "kill", id]);
    home.arm("workspace.restore.moved", "pause");
    await home.ok(["session", "restore", id, "--no-wait"]);
    await home.reached("workspace.restore.moved");
    await home.ok(["session", verb, id, "--no-wait", ...(verb === "delete" ? ["--yes"] : [])]);
    await home.crash();
    home.disarm("workspace.restore.moved");
    await home.ok(["start"]);
    await until("the worktree to be in the trash", () => !existsSync(workspacePath));
    const [entry, ...more] = await home.json<{ id: string; session: string }[]>(["trash", "ls"]);
    expect(more).toEqual([]);
    expect(entry).toMatchObject({ session: id });
    expect(readdirSync(home.paths.trash).filter((name) => !name.startsWith("."))).toEqual([entry!.id]);
    expect(readFileSync(join(home.paths.trash, entry!.id, "tree", "draft.txt"), "utf8")).toBe("not committed\n");
  },
);
