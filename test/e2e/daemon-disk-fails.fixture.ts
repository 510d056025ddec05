/** Runs in its own mount namespace (see small-disk.ts) and prints what a daemon does when its disk fails. */
import { existsSync } from "node:fs";
import { ProjectHome } from "../harness/project.ts";
import { endMarked, markedProcesses } from "../harness/marked.ts";
import { FailingDisk } from "../harness/small-disk.ts";

const home = new ProjectHome();
const disk = new FailingDisk(home.home);
try {
  console.log(JSON.stringify(await run()));
} catch (error) {
  console.error(error, home.logTail());
  process.exitCode = 1;
} finally {
  await endMarked(markedProcesses(`HOLDFAST_HOME=${home.home}`));
  disk[Symbol.dispose]();
  if (existsSync(home.paths.database)) process.exitCode = 2;
  home.endTmuxServer();
  await home[Symbol.asyncDispose]();
}

async function run(): Promise<object> {
  await home.ok(["start", "--port", "0"]);
  home.repo = await home.repository("my-app");
  await home.ok(["project", "add", home.repo]);
  const { id } = await home.spawn();
  const chat = await home.json(["spawn", "my-app", "--agent", "demo"]);
  const { pid } = home.daemon();

  disk.fail();
  const told = ({ code, stdout, stderr }: { code: number | null; stdout: string; stderr: string }): string[] => [
    String(code),
    ...(stdout + stderr).replaceAll(home.home, "HOME").split("\n").filter(Boolean),
  ];
  const kill = told(await home.cli(["session", "kill", id]));
  const send = told(await home.cli(["send", chat.id, "hello"]));
  const list = await home.cli(["session", "ls"]);
  const health = await home.health();
  const doctor = told(await home.cli(["doctor"]));
  const { pid: after } = await home.json<{ pid: number }>(["info"]);
  await home.ok(["stop"]);
  const start = told(await home.cli(["session", "ls"]));
  return {
    kill,
    send,
    list: list.code,
    health: health.status,
    doctor: doctor.filter((line) => /^(FAIL +home)/.test(line)),
    lives: after === pid,
    start,
  };
}
