/** A stop that is cancelled while it stops the agent, under a daemon that dies before it records that. */
import { expect, test } from "vitest";
import { ChatHome } from "../harness/chat.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";

/** Stops it, sends a prompt once its agent has exited, and kills the daemon before the exit is recorded. */
async function takeBack(home: ProjectHome, id: string, text: string): Promise<void> {
  home.arm("stop.signalled", "pause");
  await home.ok(["session", "stop", id, "--no-wait"]);
  await home.reached("stop.signalled");
  expect(await home.ok(["send", id, text, "--timeout", "1s"])).toContain("queued");
  expect((await home.show(id)).intent.want).toBe("running");
  await home.crash();
  home.disarm("stop.signalled");
  await home.ok(["start"]);
}

const ends = async (home: ProjectHome, id: string): Promise<unknown[]> =>
  (await home.events(id)).filter(({ type }) => type === "run.ended").map(({ how }) => how);

test("[DECIDE-35] a stopped terminal agent is restarted for the prompt that cancelled the stop", async () => {
  await using home = await ProjectHome.make();
  const { id } = await home.spawn();
  await home.status(id, "idle");
  await takeBack(home, id, "say: after all");
  await until("the prompt", async () => (await home.events(id)).some(({ type }) => type === "prompt.sent"), 60_000);
  expect(await ends(home, id)).toEqual(["stopped"]);
});

test("[DECIDE-35] a stopped chat agent is restarted for the prompt that cancelled the stop", async () => {
  await using home = await ChatHome.open();
  const id = await home.chat("say: first");
  await home.ended(id);
  await takeBack(home, id, "say: after all");
  expect((await home.ended(id, 2)).at(-1)).toMatchObject({ text: "after all\n", stopReason: "end_turn" });
  expect(await ends(home, id)).toEqual(["stopped"]);
});
