/** What lists, verbs and notifications report about sessions, with a real daemon, tmux and git. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

async function withPlainAgent(): Promise<ProjectHome> {
  const home = await ProjectHome.make();
  const config = {
    projects: { "my-app": { path: ".", prefix: "ma" } },
    agents: { plain: { terminal: { command: ["cat"] } } },
  };
  writeFileSync(join(home.repo, "holdfast.yaml"), JSON.stringify(config));
  await home.ok(["project", "add", home.repo]);
  return home;
}

test("[DECIDE-15] [DECIDE-25] a plain command is running, needs no input, and its restore has a notice", async () => {
  await using home = await withPlainAgent();
  const { id } = await home.json(["spawn", "my-app", "--agent", "plain", "--kind", "terminal"]);
  expect(await home.status(id, "running")).toMatchObject({ reason: null, needsYou: false });
  expect(await home.ok(["status"])).not.toContain("Needs you");
  expect(await home.ok(["session", "ls"])).toContain("[running]");
  await home.cli(["send", id, "hello"]);
  await until("the prompt to be sent", async () => (await home.events(id)).some(({ type }) => type === "prompt.sent"));
  await home.ok(["session", "stop", id]);
  const text = "This agent cannot resume a conversation; started a new one.";
  expect(await home.ok(["session", "restore", id])).toContain(`\n  ${text}`);
  expect((await home.events(id)).filter(({ type }) => type === "notice")).toMatchObject([{ level: "warn", text }]);
});

test("[DECIDE-16] [REACTION-5] a chat turn that fails needs you, in lists and as one notification with the reason", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("fail: no credit left");
  await until("the failed turn", async () => (await home.show(id)).needsYou === true);
  const { status, reason } = await home.show(id);
  expect([status, reason]).toEqual(["idle", expect.stringContaining("no credit left")]);
  expect(await home.ok(["status"])).toMatch(/^Needs you \(1\)\n.*\n {4}its last turn failed: .*no credit left/);
  expect(await home.ok(["session", "ls"])).toContain(`\n    ${reason!}`);
  await until("the notification", async () => (await home.ofType(id, "notification")).length > 0);
  await home.turn(id, "say: better");
  expect(await home.show(id)).toMatchObject({ status: "idle", reason: null, needsYou: false });
  expect(await home.ofType(id, "notification")).toMatchObject([
    { title: `${id}: turn failed`, text: expect.stringMatching(/^Its last turn failed: .*no credit left/) },
  ]);
});

test("[DECIDE-16] [REACTION-5] so does a terminal agent that crashes in mid-turn", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "slow: 60");
  await home.status(id, "working");
  process.kill((await home.agent(id)).pid, "SIGKILL");
  const why = "the agent crashed during its last turn and was restarted";
  await until("the crash to be listed", async () => (await home.show(id)).reason === why);
  expect(await home.show(id)).toMatchObject({ needsYou: true });
  await until("the notification", async () =>
    (await home.events(id)).some((event) => event.type === "notification" && String(event["why"]).includes("crashed")),
  );
});

test("[CLI-17] a killed session is shown with the branch that was checked out", async () => {
  await using home = await ProjectHome.make();
  const { id, workspacePath } = await home.spawn();
  await home.git(workspacePath, ["switch", "-q", "-c", "agent-switched"]);
  await home.ok(["session", "kill", id]);
  expect((await home.show(id)).branch).toBe("agent-switched");
  expect(await home.ok(["session", "show", id])).toContain("Branch:        agent-switched");
});

test("[DECIDE-26] delete of a terminal session prints what its agent keeps", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn("--prompt", "say: hello");
  const { agentSessionId } = await home.status(id, "idle");
  expect(await home.ok(["session", "delete", id, "--yes"])).toContain(
    `keeps its own copy of this conversation (${agentSessionId}).`,
  );
});

test("[DECIDE-27] a delete is reported as done, also if its session is purged at the same moment", async () => {
  // Purges run all the time instead of once a minute.
  await using home = await ChatHome.open({}, { HOLDFAST_TEST_MINUTE_MS: "2" });
  for (let n = 0; n < 6; n++) {
    const id = await home.chat("say: hello");
    await home.ended(id);
    await home.call("kill", id, { body: {} });
    expect(await home.call("delete", id, { body: {} })).toMatchObject({ done: true });
  }
});

test("[CLI-37] acp restart reports a context reset", async () => {
  await using home = await ChatHome.open({ forgetful: { program: "forgets-sessions" } });
  const id = await home.chat("one", "forgetful");
  await home.ended(id);
  const out = await home.ok(["acp", "restart", id]);
  expect(out).toMatch(/^Session .* restarted\.\n {2}Conversation context reset: /);
});

test("[CLI-31] session restore --all restarts the sessions that stop --halt-sessions stopped", async () => {
  await using home = await ProjectHome.make();
  const ids = [(await home.spawn()).id, (await home.spawn()).id];
  const killed = (await home.spawn()).id;
  await home.ok(["session", "kill", killed]);
  await home.ok(["stop", "--halt-sessions", "--yes"]);
  await home.ok(["start", "--port", "0"]);
  const out = await home.ok(["session", "restore", "--all"]);
  for (const id of ids) expect(out).toContain(`Session ${id} restored.`);
  expect(out).toMatch(/\n2 sessions restored\.\n$/);
  for (const id of ids) await home.status(id, "idle");
  expect((await home.show(killed)).status).toBe("killed");
  expect(await home.ok(["session", "restore", "--all"])).toBe("No session is stopped.\n");
});

test("[REACTION-7] sessions lost with the tmux server under --no-restore cause one notification", async () => {
  await using home = await ProjectHome.make();
  await home.ok(["stop"]);
  await home.ok(["start", "--port", "0", "--no-restore"]);
  const ids: string[] = [];
  for (let at = 0; at < 4; at++) ids.push((await home.spawn()).id);
  for (const id of ids) await home.status(id, "idle");
  const server = await home.run("tmux", ["-L", home.paths.tmuxSocket, "display-message", "-p", "#{pid}"]);
  process.kill(Number(server.stdout), "SIGKILL");
  for (const id of ids) await home.status(id, "failed");
  const notes = async () =>
    (await Promise.all(ids.map((id) => home.events(id)))).flat().filter(({ type }) => type === "notification");
  await until("the notification", async () => (await notes()).length > 0);
  expect((await notes()).map((note) => note["text"])).toEqual([
    `4 sessions were lost with the machine or its tmux server and not restarted: ${ids.join(", ")}. Restore them: holdfast session restore --all`,
  ]);
  expect(await home.ok(["session", "restore", "--all"])).toMatch(/\n4 sessions restored\.\n$/);
});
