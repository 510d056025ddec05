/**
 * Runs in a mount namespace of its own: puts a small real file system on the given directory, fills it, and prints what
 * the store did. The mount goes with the process.
 */
import { execFileSync } from "node:child_process";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FactEvent } from "../contract/event.ts";
import { asProjectId, asSessionId } from "../contract/ids.ts";
import { openStore } from "./open.ts";

const directory = process.argv[2]!;
execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "none", directory]);
const at = (name: string): string => join(directory, name);
const options = {
  path: at("holdfast.db"),
  backupsDirectory: at("backups"),
  reservePath: at("reserve"),
  now: Date.now,
};
const store = openStore(options);
const id = asSessionId("ma-1");
const place = { branch: id, branchCreated: true, base: "main", workspacePath: "/worktrees/ma-1" };
const names = { id, project: asProjectId("app"), agent: "demo", title: id, issue: null, by: "person" };
await store.create({ type: "session.created", kind: "terminal", role: "worker", ...names, ...place });

fill(at("filler"));
const text = "x".repeat(20_000);
const full = await appendUntilRefused();
const before = store.session(id)?.seq ?? 0;
const killed = await store.commit(id, () => [
  { type: "workspace.output", text },
  { type: "session.intent", want: { want: "killed" }, by: "person" } as unknown as FactEvent,
]);
const reserveWhileFull = existsSync(options.reservePath);
const chatter = await store.putSetting("a", "b").then(
  () => "written",
  (error: { code: string }) => error.code,
);
rmSync(at("filler"));
await store.probe();
const reserveAfterwards = existsSync(options.reservePath);
const problems = store.verify();
store.close();

execFileSync("mount", ["-o", "remount,ro", directory]);
let readOnly = "opened";
try {
  openStore(options).close();
} catch (error) {
  readOnly = (error as Error).message.replaceAll(directory, "");
}
const written = killed.seq - before;
console.log(
  JSON.stringify({
    full,
    written,
    want: killed.intent.want,
    chatter,
    reserveWhileFull,
    reserveAfterwards,
    problems,
    readOnly,
  }),
);

async function appendUntilRefused(): Promise<string> {
  for (;;) {
    try {
      await store.commit(id, () => [{ type: "workspace.output", text }]);
    } catch (error) {
      return (error as { code: string }).code;
    }
  }
}

/** Takes everything that is left. */
function fill(path: string): void {
  for (let size = 1024 * 1024; size >= 4096; size /= 2) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(size), { flag: "a" });
    } catch {
      // Full for this size: go on with a smaller one.
    }
  }
}
