/** A process that appends until it is killed, and reports each sequence once the store has said that it is committed. */
import { writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SessionCreated } from "../contract/event.ts";
import { asProjectId, asSessionId } from "../contract/ids.ts";
import { openStore } from "./open.ts";

const path = process.argv[2]!;
const store = openStore({
  path,
  backupsDirectory: join(dirname(path), "backups"),
  reservePath: join(dirname(path), "reserve"),
  now: Date.now,
});
const ids = ["ma-1", "ma-2", "ma-3"].map(asSessionId);
for (const id of ids) if (!store.wasUsed(id)) await store.create(created(id));

for (let round = 0; ; round++) {
  const commits = ids.map(async (id, index) => {
    const texts = Array.from({ length: 1 + ((round + index) % 7) }, (_, i) =>
      "x".repeat((round * 37 + i * 911) % 3000),
    );
    const { seq } = await store.commit(id, () => texts.map((text) => ({ type: "workspace.output", text })));
    writeSync(1, `${id} ${seq}\n`);
  });
  await Promise.all(commits);
}

function created(id: SessionCreated["id"]): SessionCreated {
  const names = { id, project: asProjectId("app"), agent: "demo", title: id, issue: null, by: "person" };
  const place = { branch: id, branchCreated: true, base: "main", workspacePath: `/worktrees/${id}` };
  return { type: "session.created", kind: "terminal", role: "worker", ...names, ...place };
}
