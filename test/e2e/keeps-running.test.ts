import {
  cpSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ProjectHome } from "../harness/project.ts";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

test("[SESSION-12] stop, SIGKILL and restart of the daemon leave the agent unchanged, and it is adopted automatically", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  const agent = await home.agent(id);

  expect(await home.ok(["stop"])).toBe(
    "Daemon stopped. 1 session keeps running (holdfast start to supervise it again).\n",
  );
  expect(isRunning(agent.pid)).toBe(true);
  await home.ok(["start"]);
  expect(await home.agent(id)).toEqual(agent);

  await home.crash();
  await home.ok(["start"]);
  expect(await home.agent(id)).toEqual(agent);

  await home.ok(["restart"]);
  expect(await home.agent(id)).toEqual(agent);
  expect((await home.show(id)).status).toBe("idle");
  await home.ok(["send", id, "history?"]);
});

test("[SESSION-13] after the tmux server dies the session resumes its conversation, unless disabled", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "say: first words");
  await home.status(id, "idle");
  const before = await home.agent(id);
  const conversation = (await home.show(id)).agentSessionId;
  await home.ok(["stop"]);
  await loseServer(home, before.pid);

  await home.ok(["start", "--no-restore"]);
  await home.status(id, "failed");
  await home.ok(["stop"]);
  await home.ok(["start", "--port", "0"]);
  await home.status(id, "idle");
  expect((await home.agent(id)).pid).not.toBe(before.pid);
  expect((await home.show(id)).agentSessionId).toBe(conversation);
  await home.ok(["send", id, "history?"]);
  await until("the agent to print its history", async () => /turns=1/.test(await screen(home, id)));
});

test("[SESSION-21] text that the user typed on the agent's own screen is in the conversation after a stop and a restore", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn();
  await home.status(id, "idle");
  const target = `=worker-my-app-${id}:`;
  await home.run("tmux", ["-L", home.paths.tmuxSocket, "send-keys", "-t", target, "say: by hand", "Enter"]);
  await until("it to be recorded", async () =>
    (await home.events(id)).some(({ type }) => type === "conversation.used"),
  );
  await home.ok(["session", "stop", id]);
  await home.ok(["session", "restore", id]);
  await home.status(id, "idle");
  await home.ok(["send", id, "history?"]);
  await until("the agent to print its history", async () => /turns=1/.test(await screen(home, id)));
});

test("[SESSION-13] with another boot id all earlier processes count as gone, and the session is restarted", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "say: before the reboot");
  await home.status(id, "idle");
  const before = await home.agent(id);
  await home.ok(["stop"]);
  await loseServer(home, before.pid);
  home.env["HOLDFAST_TEST_BOOT_ID"] = "another-boot";
  await home.ok(["start"]);
  await home.status(id, "idle");
  const types = (await home.events(id)).map(({ type }) => type);
  expect(types.filter((type) => type === "run.ended")).toHaveLength(1);
  expect(types).not.toContain("context.reset");
});

test("[SESSION-14, SESSION-15] an agent that exits on its own stays down, and its exit is recorded", async () => {
  await using home = await ProjectHome.make();
  const session = await home.exited();
  const { id } = session;
  expect(session.end).toMatchObject({ how: "own-exit", by: "agent", exitCode: 0, signal: null });
  await home.ok(["restart"]);
  expect((await home.show(id)).status).toBe("exited");
  expect(await home.ok(["session", "ls"])).toContain("1 terminated session hidden. Use --include-terminated to show.");
  await home.ok(["send", id, "say: back again"]);
  await home.status(id, "idle");
});

test("[SESSION-14] a crashed agent is restarted, at most three times per minute", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn();
  for (let crash = 1; crash <= 3; crash++) {
    // An agent that dies while its launch is still being watched is a failed launch.
    await home.status(id, "idle");
    process.kill((await home.agent(id)).pid, "SIGKILL");
    await until(
      `crash ${crash} to be on record`,
      async () => (await home.events(id)).filter(({ type }) => type === "run.ended").length === crash,
    );
  }
  const session = await home.status(id, "failed");
  expect(session.reason).toBe("crashed 3 times within 60 s, last signal SIGKILL");
  expect(session.end).toMatchObject({ how: "crash", signal: "SIGKILL" });
  await home.ok(["session", "restore", id]);
  await home.status(id, "idle");
});

test("[SESSION-16] pausing every process and moving the clock changes nothing", async () => {
  const clock = join(mkdtempSync(join(tmpdir(), "hf-clock-")), "offset");
  onTestFinished(() => rmSync(dirname(clock), { recursive: true }));
  writeFileSync(clock, "0");
  await using home = await ProjectHome.make({ HOLDFAST_TEST_CLOCK: clock });
  const { id } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  const agent = await home.agent(id);
  const server = Number(
    (await home.run("tmux", ["-L", home.paths.tmuxSocket, "display-message", "-p", "#{pid}"])).stdout,
  );
  const daemon = home.daemon().pid;
  process.kill(server, "SIGSTOP");
  try {
    await home.status(id, "unknown");
  } finally {
    process.kill(server, "SIGCONT");
  }
  await home.status(id, "idle");
  // Asleep for a weekend; then the clock is corrected, to before the session was created.
  for (const hours of [60, -1]) {
    for (const pid of [agent.pid, server, daemon]) process.kill(pid, "SIGSTOP");
    writeFileSync(clock, String(hours * 3_600_000));
    for (const pid of [daemon, server, agent.pid]) process.kill(pid, "SIGCONT");
    // A probe that timed out is unknown for a moment.
    await home.status(id, "idle");
    const { seq } = await home.show(id);
    await home.ok(["send", id, `say: ${hours} later`]);
    await home.status(id, "idle");
    // Observations after the clock change use the new clock.
    const at = (await home.events(id)).find((event) => event.seq > seq)!.at;
    expect(Math.round((Date.parse(at) - Date.now()) / 3_600_000)).toBe(hours);
    expect(await home.agent(id)).toEqual(agent);
  }
  const lost = ["run.ended", "launch.started", "session.intent"];
  expect((await home.events(id)).filter(({ type }) => lost.includes(type))).toHaveLength(1);
});

test("[SESSION-17] a daemon of another build adopts the agents unchanged", async () => {
  await using home = await ProjectHome.make();
  await home.keepPort();
  const { id } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  const agent = await home.agent(id);
  const before = home.daemon();
  const other = join(home.directory, "other");
  for (const name of ["bin", "dist"])
    cpSync(join(import.meta.dirname, "../..", name), join(other, name), { recursive: true });
  for (const name of readdirSync(join(other, "dist"), { recursive: true, encoding: "utf8" })) {
    const file = join(other, "dist", name);
    if (/\.(cjs|json)$/.test(name))
      writeFileSync(file, readFileSync(file, "utf8").replaceAll(before.build, "9.9.9+upgraded"));
  }
  const upgraded = await home.run(join(other, "bin/holdfast"), ["restart"]);
  expect(upgraded).toMatchObject({ code: 0 });
  expect(home.daemon()).toMatchObject({ build: "9.9.9+upgraded", url: before.url });
  expect(await home.agent(id)).toEqual(agent);
  expect((await home.show(id)).status).toBe("idle");
});

test("[SESSION-18] another program's tmux server is left unchanged", async () => {
  await using home = await ProjectHome.make();
  const socket = `hf-own-${process.pid}`;
  const tmux = (...args: string[]): ReturnType<typeof home.run> =>
    home.run("tmux", ["-L", socket, "-f", "/dev/null", ...args]);
  await tmux("new-session", "-d", "-s", "worker-my-app-ma-1", "sleep", "1000");
  const list = async (): Promise<string> =>
    (await tmux("list-panes", "-a", "-F", "#{session_name} #{session_created} #{pid} #{pane_pid}")).stdout;
  const before = await list();
  try {
    const { id } = await home.spawn();
    expect(id).toBe("ma-1");
    await home.ok(["session", "kill", id]);
    await home.ok(["stop", "--halt-sessions", "--yes"]);
    expect(await list()).toBe(before);
  } finally {
    await tmux("kill-server");
    const pids = before.trim().split(" ").slice(-2).map(Number);
    await until("it to be gone", () => !pids.some(isRunning));
    rmSync(`/tmp/tmux-${process.getuid!()}/${socket}`, { force: true });
  }
});

test("[SESSION-19] a worktree that cannot be inspected blocks neither the others nor a start", async () => {
  await using home = await ProjectHome.make();
  const odd = await home.spawn();
  const other = await home.spawn();
  renameSync(odd.workspacePath, `${odd.workspacePath}.away`);
  symlinkSync(odd.workspacePath, odd.workspacePath);
  await home.ok(["restart"]);
  expect((await home.status(other.id, "idle")).processes).toHaveLength(1);
  expect(await home.listed()).toEqual([odd.id, other.id]);
  const { pid } = await home.agent(other.id);
  process.kill(pid, "SIGKILL");
  await until("the other one to be started again", async () => (await home.agent(other.id)).pid !== pid);
  rmSync(odd.workspacePath);
  renameSync(`${odd.workspacePath}.away`, odd.workspacePath);
});

test("[SESSION-20] a broken holdfast.yaml prevents no session from restarting", async () => {
  await using home = await ProjectHome.make();
  const file = join(home.repo, "holdfast.yaml");
  writeFileSync(file, "projects:\n  my-app:\n    path: .\n    prefix: ma\n    env:\n      MARK: kept\n");
  await home.ok(["project", "add", home.repo]);
  const { id } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  const before = await home.agent(id);
  writeFileSync(file, "projects:\n  my-app:\n    pth: .\n");
  await home.ok(["stop"]);
  await loseServer(home, before.pid);
  await home.ok(["start"]);
  await home.status(id, "idle");
  const { pid } = await home.agent(id);
  expect(readFileSync(`/proc/${pid}/environ`, "latin1").split("\0")).toContain("MARK=kept");
  expect((await home.events(id)).filter((event) => event["how"] === "crash")).toEqual([]);
});

/** Kills it with its agent: an agent without a server would be found and taken for crashed. */
async function loseServer(home: ProjectHome, agent: number): Promise<void> {
  await home.run("tmux", ["-L", home.paths.tmuxSocket, "kill-server"]);
  await until("the agent to be gone", () => !isRunning(agent));
}

function screen(home: ProjectHome, id: string): Promise<string> {
  return home
    .run("tmux", ["-L", home.paths.tmuxSocket, "capture-pane", "-p", "-t", `=worker-my-app-${id}:`])
    .then(({ stdout }) => stdout);
}
