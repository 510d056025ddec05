import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProjectHome } from "../harness/project.ts";
import { isRunning, markedProcesses } from "../harness/marked.ts";
import { until } from "../harness/until.ts";

test("[SESSION-22] a killed session stays killed across daemon restarts and a reboot", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  const { pid } = await home.agent(id);
  expect(await home.ok(["session", "kill", id])).toBe(`Session ${id} killed.\n`);
  expect(isRunning(pid)).toBe(false);
  await home.ok(["restart"]);
  await home.crash();
  await home.ok(["start"]);
  await home.ok(["stop"]);
  home.env["HOLDFAST_TEST_BOOT_ID"] = "another-boot";
  await home.ok(["start"]);
  expect(await home.show(id)).toMatchObject({
    status: "killed",
    intent: { want: "killed", by: "person" },
    processes: [],
  });
  expect((await home.events(id)).filter(({ type }) => type === "launch.started")).toHaveLength(1);
});

test("[SESSION-23] kill works while the daemon is down, while it starts, twice, and when everything is gone", async () => {
  await using home = await ProjectHome.make();
  const [one, two, three] = await Promise.all([home.spawn(), home.spawn(), home.spawn()]);
  await home.ok(["stop"]);
  expect(await home.ok(["session", "kill", one.id])).toBe(`Session ${one.id} killed.\n`);
  expect(await home.ok(["session", "kill", one.id])).toBe(`Session ${one.id} killed.\n`);

  await home.ok(["stop"]);
  home.arm("daemon.reconciled", "pause");
  const starting = home.cli(["start"]);
  await home.reached("daemon.reconciled");
  const killing = home.cli(["session", "kill", two.id]);
  home.disarm("daemon.reconciled");
  expect((await starting).code).toBe(0);
  expect(await killing).toMatchObject({ code: 0, stdout: `Session ${two.id} killed.\n` });

  await home.ok(["stop"]);
  await home.run("tmux", ["-L", home.paths.tmuxSocket, "kill-server"]);
  expect(await home.ok(["session", "kill", three.id])).toBe(`Session ${three.id} killed.\n`);
  const unknown = await home.cli(["session", "kill", "ma-99"]);
  expect(unknown).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Failed to kill session ma-99: Session not found"),
  });
});

test("[SESSION-23] a daemon killed at any step of a kill finishes it after the next start", async () => {
  await using home = await ProjectHome.make();
  for (const point of ["execute.stop", "stop.ended", "execute.remove-workspace", "workspace.trashed"]) {
    const { id, workspacePath } = await home.spawn();
    home.arm(point, "kill");
    await home.cli(["session", "kill", id]);
    home.disarm(point);
    await home.ok(["start"]);
    await until(`${id} to be cleared away after ${point}`, async () => {
      const session = await home.show(id);
      const cleared = session.workspace === "trashed" && !existsSync(workspacePath);
      return session.status === "killed" && session.processes.length === 0 && cleared;
    });
    const trashed = (await home.events(id)).filter(({ type }) => type === "workspace.trashed");
    expect(trashed, point).toHaveLength(1);
  }
});

test("[SESSION-24] a prompt to a killed session is refused with how to restore it", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn();
  await home.ok(["session", "kill", id]);
  const ran = await home.cli(["send", id, "hello"]);
  expect(ran.code).toBe(1);
  expect(ran.stdout + ran.stderr).toContain(`holdfast session restore ${id}`);
  expect((await home.show(id)).status).toBe("killed");
});

test("[SESSION-25] agents that ignore SIGTERM or detach into their own session are gone after a kill", async () => {
  await using home = await ProjectHome.make();
  writeFileSync(
    join(home.repo, "holdfast.yaml"),
    [
      "agents:",
      "  stubborn:",
      "    terminal:",
      `      command: ["sh", "-c", "trap '' TERM HUP INT; while :; do sleep 1; done"]`,
      "  runaway:",
      "    terminal:",
      `      command: ["sh", "-c", "setsid sh -c 'trap \\"\\" TERM; sleep 300' & setsid setsid sleep 301 & sleep 302"]`,
      "",
    ].join("\n"),
  );
  await home.ok(["project", "add", home.repo]);
  for (const agent of ["stubborn", "runaway"]) {
    const { id } = await home.json(["spawn", "my-app", "--agent", agent, "--kind", "terminal"]);
    const ran = await home.cli(["session", "kill", id]);
    expect(ran, agent).toMatchObject({ code: 0, stdout: `Session ${id} killed.\n` });
    const left = markedProcesses(`HOLDFAST_HOME=${home.home}`).filter(({ pid }) => pid !== home.daemon().pid);
    expect(left, agent).toEqual([]);
  }
});

test("[SESSION-27] stop, snooze and archive keep everything, and each is undone by its own verb", async () => {
  await using home = await ProjectHome.make();
  const { id, workspacePath } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  const conversation = (await home.show(id)).agentSessionId;
  const ways: [string[], string, string[]][] = [
    [["session", "stop", id], "stopped", ["session", "restore", id]],
    [["session", "snooze", id, "--for", "2h"], "snoozed", ["session", "wake", id]],
    [["session", "archive", id], "archived", ["session", "unarchive", id]],
    [["session", "stop", id], "stopped", ["send", id, "history?"]],
  ];
  for (const [down, status, up] of ways) {
    await home.ok(down);
    expect(await home.show(id)).toMatchObject({ status, processes: [] });
    expect(existsSync(workspacePath)).toBe(true);
    await home.ok(["restart"]);
    expect((await home.show(id)).status).toBe(status);
    await home.ok(up);
    expect((await home.status(id, "idle", "working")).agentSessionId).toBe(conversation);
  }
});

test("[SESSION-27] a snooze ends at its time", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "say: hello");
  await home.status(id, "idle");
  await home.ok(["session", "snooze", id, "--for", "1s"]);
  expect((await home.status(id, "idle")).intent.by).toBe("snooze-timer");
});

test("[SESSION-28] a deleted session is gone permanently, its id is not reused, its files are in the trash", async () => {
  await using home = await ProjectHome.make();
  const { id, workspacePath } = await home.spawn();
  writeFileSync(join(workspacePath, "note.txt"), "keep me");
  await home.ok(["session", "delete", id, "--yes"]);
  expect((await home.cli(["session", "show", id])).stderr).toContain("Session not found");
  expect((await home.cli(["session", "restore", id])).code).toBe(1);
  await home.ok(["restart"]);
  expect(await home.ok(["session", "ls", "--include-terminated"])).not.toContain(id);
  expect((await home.spawn()).id).not.toBe(id);
  const [entry] = await home.json<{ id: string; session: string }[]>(["trash", "ls"]);
  expect(entry?.session).toBe(id);
  await home.ok(["trash", "restore", entry!.id]);
  expect(existsSync(join(workspacePath, "note.txt"))).toBe(true);
});

test("[SESSION-29] stop --halt-sessions stops sessions only after confirmation", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn();
  const { pid } = await home.agent(id);
  const asked = await home.cli(["stop", "--halt-sessions"]);
  expect(asked.code).toBe(1);
  expect(asked.stdout + asked.stderr).toContain(id);
  expect(isRunning(pid)).toBe(true);
  expect(existsSync(home.paths.daemonFile)).toBe(true);
  await home.ok(["stop", "--halt-sessions", "--yes"]);
  expect(isRunning(pid)).toBe(false);
  await home.ok(["start"]);
  expect(await home.show(id)).toMatchObject({ status: "stopped", intent: { want: "stopped", by: "person" } });
  await home.ok(["session", "restore", id]);
  const again = await home.agent(id);
  await home.ok(["stop"]);
  await home.ok(["stop", "--halt-sessions", "--yes"]);
  expect(isRunning(again.pid)).toBe(false);
});

test("[SESSION-32] a kill that cannot finish reports what remains, and finishes later", async () => {
  await using home = await ProjectHome.make({ HOLDFAST_TEST_END_MS: "1000" });
  const { id } = await home.spawn();
  const server = Number(
    (await home.run("tmux", ["-L", home.paths.tmuxSocket, "display-message", "-p", "#{pid}"])).stdout,
  );
  process.kill(server, "SIGSTOP");
  try {
    const ran = await home.cli(["session", "kill", id]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).not.toContain(`Session ${id} killed.`);
    expect(ran.stdout).toContain(`Session ${id} will be killed`);
    expect(ran.stdout).toContain("The daemon continues.");
  } finally {
    process.kill(server, "SIGCONT");
  }
  await until("the kill to be finished", async () => (await home.show(id)).trash !== null);
  expect(await home.show(id)).toMatchObject({ status: "killed", processes: [] });
});

test("[SESSION-33] halting the sessions includes one that is still being created", async () => {
  await using home = await ProjectHome.make();
  home.arm("execute.create-workspace", "pause");
  await home.ok(["spawn", "my-app", "--agent", "demo", "--kind", "terminal", "--no-wait"]);
  await home.reached("execute.create-workspace");
  const halting = home.cli(["stop", "--halt-sessions", "--yes"]);
  await until("the intent", async () => (await home.show("ma-1")).intent.want === "stopped");
  home.disarm("execute.create-workspace");
  expect((await halting).code).toBe(0);
  await home.ok(["start"]);
  expect(await home.show("ma-1")).toMatchObject({ status: "stopped", processes: [] });
});

test("[SESSION-30] a command that prepares a worktree stops with its session, with its children, and after a crash too", async () => {
  await using home = await ProjectHome.make();
  // Prints its pid, leaves a child in its own process session, never exits, and is slow to react to signals.
  const script = join(home.directory, "make.sh");
  writeFileSync(script, 'trap "sleep 0.5; exit" TERM\nsetsid sleep 600 &\necho "$$ $!" > "$1/pids"\nwait\n');
  const config = { path: ".", prefix: "ma", postCreate: [`sh ${script} .`] };
  writeFileSync(join(home.repo, "holdfast.yaml"), JSON.stringify({ projects: { "my-app": config } }));
  await home.ok(["project", "add", home.repo]);
  const making = async (id: string): Promise<number[]> => {
    const file = join(home.home, "worktrees", "my-app", id, "pids");
    // It exists as soon as the shell opens it, and is written a moment later.
    const written = /^(\d+) (\d+)\n$/;
    const [, ...pids] = await until("the command", () => written.exec(readFileSync(file, "utf8")));
    return pids.map(Number);
  };
  const args = ["spawn", "my-app", "--agent", "demo", "--kind", "terminal"];
  const left = (pids: number[]): number[] => pids.filter(isRunning);
  const cutShort: Promise<unknown>[] = [];

  const killed = home.cli(args);
  const first = await making("ma-1");
  expect(left(first)).toHaveLength(2);
  expect(await home.ok(["session", "kill", "ma-1"])).toBe("Session ma-1 killed.\n");
  expect(left(first)).toEqual([]);
  expect(await killed).toMatchObject({
    code: 1,
    stderr: "ma-1 was killed before its agent ran.\nSee holdfast session show ma-1.\n",
  });

  cutShort.push(home.cli(args));
  const second = await making("ma-2");
  expect(await home.ok(["session", "stop", "ma-2"])).toContain("ma-2");
  expect(left(second)).toEqual([]);

  cutShort.push(home.cli(args));
  const third = await making("ma-3");
  await home.crash();
  expect(left(third)).toHaveLength(2);
  expect(await home.ok(["session", "kill", "ma-3"])).toBe("Session ma-3 killed.\n");
  expect(left(third)).toEqual([]);
  expect(await home.git(home.repo, ["worktree", "list"])).not.toMatch(/worktrees\/my-app\/ma-[13]/);

  // Stopped, and the daemon died before it had stopped anything.
  cutShort.push(home.cli(args));
  const fourth = await making("ma-4");
  await home.crash();
  home.arm("execute.create-workspace", "pause");
  cutShort.push(home.cli(["session", "stop", "ma-4"]));
  await home.reached("execute.create-workspace");
  await until("the intent", async () => (await home.show("ma-4")).intent.want === "stopped");
  await home.crash();
  expect(left(fourth)).toHaveLength(2);
  home.disarm("execute.create-workspace");
  await home.ok(["start"]);
  await until("processes of an earlier daemon to stop", () => left(fourth).length === 0);
  expect(await home.show("ma-4")).toMatchObject({ status: "stopped" });
  await Promise.all(cutShort);
});

test("[SESSION-31] the next daemon removes launch files that a crash left, also those of snoozed and deleted sessions", async () => {
  await using home = await ProjectHome.make({ HOLDFAST_TEST_MINUTE_MS: "300" });
  for (const verb of [["stop"], ["snooze", "--for", "2h"], ["kill"], ["delete", "--yes"]]) {
    const { id } = await home.spawn();
    const files = join(home.paths.launches, id);
    home.arm("terminal.ended", "kill");
    await home.cli(["session", verb[0]!, id, ...verb.slice(1)]);
    home.disarm("terminal.ended");
    expect(existsSync(files), verb[0]).toBe(true);
    await home.ok(["start"]);
    await until(`the files of ${id} to be gone after ${verb[0]}`, () => !existsSync(files));
  }
  // Of a session that was purged long ago, as earlier builds left them.
  const { id } = await home.spawn();
  await home.ok(["session", "delete", id, "--yes"]);
  await until(`${id} to be purged`, async () => (await home.cli(["events", id])).code !== 0);
  const left = join(home.paths.launches, id, "a-launch");
  const unknown = join(home.paths.launches, "ma-99", "a-launch");
  for (const path of [left, unknown]) {
    mkdirSync(path, { recursive: true });
    writeFileSync(
      join(path, "launch.json"),
      JSON.stringify({ launch: "a-launch", agentSessionId: null, promptTaken: false }),
    );
  }
  await home.ok(["restart"]);
  await until("the files of a purged session to be gone", () => !existsSync(left));
  expect(existsSync(unknown)).toBe(true);
});

test("[SESSION-26] a prompt that a kill overtakes is refused, and a restore does not send it", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn();
  await home.status(id, "idle");
  for (const point of ["verb.prompt", "execute.deliver"]) {
    home.arm(point, "pause");
    const sending = home.cli(["send", id, `say: overtaken at ${point}`]);
    await home.reached(point);
    await home.ok(["session", "kill", id, "--no-wait"]);
    home.disarm(point);
    const { code, stdout, stderr } = await sending;
    expect(code, point).toBe(1);
    expect(stdout + stderr, point).toMatch(/refused/i);
    expect(stdout + stderr, point).toContain(`holdfast session restore ${id}`);
    await until("the kill", async () => (await home.show(id)).workspace === "trashed");
    await home.ok(["session", "restore", id]);
    expect((await home.status(id, "idle")).queued, point).toBe(0);
  }
  const sent = (await home.events(id)).filter(({ type }) => type === "prompt.sent" || type === "prompt.doubtful");
  expect(sent).toEqual([]);
});

test("[SESSION-38] a halt includes a session that is being deleted, and waits for it", async () => {
  await using home = await ProjectHome.make();
  const { id, workspacePath } = await home.spawn();
  const { pid } = await home.agent(id);
  home.arm("execute.stop", "pause");
  await home.ok(["session", "delete", id, "--yes", "--no-wait"]);
  await home.reached("execute.stop");
  const halting = home.cli(["stop", "--halt-sessions", "--yes"]);
  await home.reached("halt.recorded");
  home.disarm("execute.stop");
  expect(await halting).toMatchObject({ code: 0, stdout: `Daemon stopped. 1 session stopped: ${id}.\n` });
  expect(isRunning(pid)).toBe(false);
  expect(existsSync(workspacePath)).toBe(false);
});

test("[SESSION-39] past its limit a halt lists the sessions still stopping, and the daemon exits once they are down, unless you change your mind", async () => {
  await using home = await ProjectHome.make({ HOLDFAST_TEST_HALT_MS: "1" });
  // One after the other: the list is in the order of their records.
  const [one, two] = [await home.spawn(), await home.spawn()];
  const daemon = home.daemon();
  home.arm("execute.stop", "pause");
  const late = await home.cli(["stop", "--halt-sessions", "--yes"]);
  expect(late.code).toBe(1);
  expect(late.stderr).toContain("Still running: ma-1, ma-2.\nThe daemon exits once they have stopped.");
  expect(isRunning(daemon.pid)).toBe(true);
  expect(await home.cli(["spawn", "my-app", "--agent", "demo", "--kind", "terminal"])).toMatchObject({ code: 1 });
  home.disarm("execute.stop");
  await until("the daemon to end", () => !isRunning(daemon.pid));
  const left = markedProcesses(`HOLDFAST_HOME=${home.home}`);
  expect(left).toEqual([]);
  await home.ok(["start"]);
  for (const { id } of [one, two]) expect(await home.show(id)).toMatchObject({ status: "stopped" });

  await Promise.all([one, two].map(({ id }) => home.ok(["session", "restore", id])));
  home.arm("execute.stop", "pause");
  expect((await home.cli(["stop", "--halt-sessions", "--yes"])).code).toBe(1);
  await home.ok(["session", "restore", two.id, "--no-wait"]);
  home.disarm("execute.stop");
  await home.status(one.id, "stopped");
  await home.status(two.id, "idle");
  expect((await home.spawn()).id).toBe("ma-3");
});

test("[SESSION-40] with the daemon down and last started read-only, a halt halts, and the next start is read-only again", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn();
  const { pid } = await home.agent(id);
  await home.ok(["stop"]);
  await home.ok(["start", "--port", "0", "--read-only"]);
  expect((await home.cli(["stop", "--halt-sessions", "--yes"])).stderr).toContain("read-only");
  await home.ok(["stop"]);
  expect(isRunning(pid)).toBe(true);
  expect(await home.ok(["stop", "--halt-sessions", "--yes"])).toBe(`Daemon stopped. 1 session stopped: ${id}.\n`);
  expect(isRunning(pid)).toBe(false);
  // Any command starts the daemon with the options of its last start.
  expect(await home.show(id)).toMatchObject({ status: "stopped" });
  expect((await home.cli(["session", "restore", id])).stderr).toContain("read-only");
  await home.ok(["stop"]);
});
