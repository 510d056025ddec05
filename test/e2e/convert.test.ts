import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import type { EventFields } from "../harness/project.ts";
import { ChatHome } from "../harness/chat.ts";
import { until } from "../harness/until.ts";

/** Where the demo agent keeps a conversation. */
const conversationFile = (home: ChatHome, id: string): string =>
  `${home.userHome}/.local/state/holdfast-demo/${id}.jsonl`;

test("[SESSION-58] a session killed during a conversion stays killed, and the command reports it", async () => {
  await using home = await ChatHome.open();
  for (const point of ["execute.stop", "stop.ended", "execute.convert", "convert.stopped"]) {
    const id = await home.chat("say: hello");
    await home.ended(id);
    home.arm(point, "pause");
    const converting = home.cli(["session", "convert", id, "--kind", "terminal", "--fresh"]);
    await home.reached(point);
    await home.ok(["session", "kill", id, "--no-wait"]);
    home.disarm(point);
    expect(await converting, point).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(
        `Failed to convert session ${id}: it was killed in the meantime and stays killed.`,
      ),
    });
    await until(`${id} to be cleared away`, async () => (await home.show(id)).workspace === "trashed");
    expect(await home.show(id), point).toMatchObject({ status: "killed", kind: "chat", processes: [] });
    const after = afterKill(await home.events(id));
    expect(after, point).not.toContain("launch.started");
    expect(after, point).not.toContain("session.converted");
    expect(after, point).not.toContain("session.intent");
  }
});

function afterKill(events: EventFields[]): string[] {
  const kill = events.findIndex(({ want }) => (want as { want?: string } | undefined)?.want === "killed");
  return events.slice(kill + 1).map(({ type }) => type);
}

test("[SESSION-57] [SESSION-60] the intent is on record before anything is stopped or deleted, and --no-wait returns there", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: hello");
  await home.ended(id);
  const file = conversationFile(home, (await home.show(id)).agentSessionId!);
  home.arm("execute.stop", "pause");
  expect(await home.ok(["session", "convert", id, "--kind", "terminal", "--fresh", "--no-wait"])).toBe(
    `Session ${id} will be converted to terminal.\n`,
  );
  await home.reached("execute.stop");
  expect(existsSync(file)).toBe(true);
  expect(await home.show(id)).toMatchObject({
    kind: "chat",
    status: "starting",
    reason: "converting to terminal",
    intent: { want: "running", by: "person" },
  });
  home.disarm("execute.stop");
  await until("the other kind", async () => (await home.show(id)).kind === "terminal");
  expect(existsSync(file)).toBe(false);
  await home.status(id, "idle");
});

test("[SESSION-61] a conversion with --fresh that is cancelled before anything was discarded discards nothing", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: hello");
  await home.ended(id);
  const file = conversationFile(home, (await home.show(id)).agentSessionId!);
  home.arm("execute.stop", "pause");
  await home.ok(["session", "convert", id, "--kind", "terminal", "--fresh", "--no-wait"]);
  await home.reached("execute.stop");
  await home.ok(["session", "kill", id, "--no-wait"]);
  home.disarm("execute.stop");
  await until(`${id} to be cleared away`, async () => (await home.show(id)).workspace === "trashed");
  expect(existsSync(file)).toBe(true);
  await home.ok(["session", "restore", id]);
  expect((await home.turn(id, "history?")).text).toContain("turns=1 ");
});

test("[SESSION-59] a daemon killed at any step of a conversion finishes it after the next start", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: hello");
  await home.ended(id);
  // From chat to terminal and back in turns: only a chat agent can delete its conversation.
  const points = [
    "execute.stop",
    "stop.ended",
    "convert.discarded",
    "execute.convert",
    "convert.stopped",
    "execute.launch",
    "launch.made",
  ];
  for (const point of points) {
    const before = await home.show(id);
    const kind = before.kind === "chat" ? "terminal" : "chat";
    home.arm(point, "kill");
    await home.cli(["session", "convert", id, "--kind", kind, "--fresh"]);
    home.disarm(point);
    await home.ok(["start"]);
    const after = await until(`${id} to be a ${kind} after ${point}`, async () => {
      const session = await home.show(id);
      return session.kind === kind && session.status === "idle" && session;
    });
    expect(
      after.processes.filter(({ what }) => what === "agent"),
      point,
    ).toHaveLength(1);
    expect(
      home.tree(id).filter(({ what }) => what.includes(kind === "chat" ? "demo-agent" : "demo-acp")),
      point,
    ).toEqual([]);
    const events = await home.events(id);
    const since = events.filter(({ seq }) => seq > before.seq);
    expect(
      since.filter(({ type }) => type === "session.converted"),
      point,
    ).toHaveLength(1);
    expect(
      since.findIndex(({ type }) => type === "session.intent"),
      point,
    ).toBeLessThan(since.findIndex(({ type }) => type === "context.reset"));
    if (kind === "chat") await home.turn(id, "say: again");
  }
});
