/** Runs in its own mount namespace (see small-disk.ts) and prints what a daemon does on a full or read-only disk. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ProjectHome } from "../harness/project.ts";
import { SmallDisk, tellFrom } from "../harness/small-disk.ts";

await using home = new ProjectHome();
const disk = new SmallDisk(home.home);
await tellFrom(disk, home, run);

async function run(): Promise<object> {
  await home.ok(["start", "--port", "0"]);
  home.repo = await home.repository("my-app");
  await home.ok(["project", "add", home.repo]);
  const { id, workspacePath } = await home.spawn();
  writeFileSync(join(workspacePath, "precious"), "work");
  const chat = await home.json(["spawn", "my-app", "--agent", "demo"]);
  await home.ok(["session", "stop", chat.id]);
  disk.leave(100 * 1024 * 1024);
  const low = await home.cli(["spawn", "my-app", "--agent", "demo", "--kind", "terminal"]);
  // Space for the record, none for an agent.
  disk.leave(24 * 1024);
  const restore = await home.cli(["session", "restore", chat.id]);
  disk.free();
  await home.ok(["session", "kill", chat.id]);

  await home.ok(["stop"]);
  disk.fill();
  const kill = await home.cli(["session", "kill", id]);
  const refused = await home.cli(["project", "rm", "my-app"]);
  const killed = await home.show(id);
  const health = await home.health();
  await home.ok(["stop"]);
  disk.fill();
  const start = await home.cli(["start"]);
  disk.free();
  const after = await home.show(id);
  await home.ok(["stop"]);

  disk.makeReadOnly();
  const readOnly = await home.cli(["session", "ls"]);
  const doctor = await home.cli(["doctor"]);
  const told = (text: string): string => text.replaceAll(home.home, "HOME");
  return {
    low: [
      low.code,
      ...told(low.stderr)
        .replace(/\d+ MB/, "N MB")
        .split("\n")
        .slice(0, 2),
    ],
    restore: [restore.code, told(restore.stderr)],
    kill: [kill.code, kill.stdout.split("\n")[0]],
    refused: told(refused.stderr),
    health: [health.status, (health.json as { error?: { code: string } }).error?.code],
    wanted: [killed.intent.want, killed.status, after.status],
    start: [start.code, told(start.stderr)],
    readOnly: [readOnly.code, told(readOnly.stderr)],
    doctor: [
      doctor.code,
      told(doctor.stdout).includes("FAIL  home            Cannot write to HOME: its disk is read-only."),
    ],
  };
}
