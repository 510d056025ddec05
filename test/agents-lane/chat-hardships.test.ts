/** What real chat agents must survive besides a daemon that dies: one session per agent, whose tests build on each other. */
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { anotherBuild } from "../harness/another-build.ts";
import { canMount, runOnSmallDisk } from "../harness/small-disk.ts";
import { until } from "../harness/until.ts";
import { ChatLane, patienceMs } from "./chat-lane.ts";
import { builtInAgents } from "../../src/agents/registry.ts";
import { laneAgents, realAgents, type RealAgent } from "./agents/agents.ts";

const lanes = new Map<RealAgent, Promise<ChatLane>>();
const fixture = fileURLToPath(new URL("full-disk.fixture.ts", import.meta.url));

/** Whether the agent itself still has a conversation. */
async function keeps(name: RealAgent, lane: ChatLane, conversation: string): Promise<boolean> {
  const own = laneAgents[name].keeps;
  return own === undefined ? lane.transcripts().some((text) => text.includes(conversation)) : own(lane, conversation);
}

afterAll(async () => {
  for (const lane of lanes.values()) await (await lane)[Symbol.asyncDispose]();
});

describe.each(realAgents("hardships"))("%s", (name) => {
  test("[CHAT-85] pausing agent, keeper and feeder in mid-turn loses nothing", async () => {
    const lane = await open(name);
    await lane.spawn("say: a secret word");
    await lane.ended("ma-1-first");
    const session = await lane.show();
    for (const part of ["agent", "keeper", "feeder"] as const) {
      const pid = lane.pid(session, part);
      const promptId = await lane.send(`say: before ${part}\ngate: ${part}\nsay: after ${part}`);
      await lane.said(promptId, `before ${part}`);
      process.kill(pid, "SIGSTOP");
      lane.model.openGate(part);
      // Across a daemon too: the next one finds it paused.
      if (part === "agent") await lane.home.crash().then(() => lane.home.ok(["start"]));
      process.kill(pid, "SIGCONT");
      const text = `before ${part}\nafter ${part}\n`;
      expect(await lane.ended(promptId)).toEqual({ text, stopReason: "end_turn", ends: 1 });
    }
    const now = await lane.show();
    expect(now.processes.map(({ pid }) => pid)).toEqual(session.processes.map(({ pid }) => pid));
  });

  test("[CHAT-86] a daemon of another build takes over in mid-turn", async () => {
    const lane = await open(name);
    const pid = lane.pid(await lane.show());
    const promptId = await lane.send("say: old\ngate: upgrade\nsay: new");
    await lane.said(promptId, "old");
    const restarted = await lane.home.run(anotherBuild(lane.home, "upgraded"), ["restart"]);
    expect(restarted).toMatchObject({ code: 0 });
    expect(lane.home.daemon().build).toBe("9.9.9+upgraded");
    expect((await lane.seen(promptId)).stopReason).toBeNull();
    lane.model.openGate("upgrade");
    expect(await lane.ended(promptId)).toEqual({ text: "old\nnew\n", stopReason: "end_turn", ends: 1 });
    expect(lane.pid(await lane.show())).toBe(pid);
  });

  test.runIf(laneAgents[name].setting !== undefined)(
    "[CHAT-87] the chosen settings apply again after the agent is replaced",
    async () => {
      const lane = await open(name);
      const { pick, method, value } = laneAgents[name].setting!;
      await lane.configure(pick);
      const pid = lane.pid(await lane.show());
      await lane.restartAgent();
      await lane.replaced(pid);
      const asked = lines(lane.input()).find((line) => line["method"] === method);
      expect(asked).toMatchObject({ params: { sessionId: (await lane.show()).agentSessionId } });
      expect(JSON.stringify(asked)).toContain(`"${value}"`);
      const answer = lines(lane.out()).find((line) => line["id"] === asked!["id"]);
      expect(answer).toHaveProperty("result");
      expect(await lane.types()).not.toContain("context.reset");
    },
  );

  test("[CHAT-88] a deleted conversation is gone or reported as kept, and a new session does not know it", async () => {
    const lane = await open(name);
    const { agentSessionId } = await lane.show();
    // The agent may still be writing it.
    await until("its copy to be there", () => keeps(name, lane, agentSessionId!), patienceMs);
    const { notes } = await lane.delete();
    // Gemini deletes only by a number in a list: that is left to the user.
    const kept = builtInAgents.find(({ id }) => id === name)?.chat?.deleteHint !== undefined;
    expect(notes.filter((note) => note.includes("keeps its own copy of this conversation"))).toHaveLength(kept ? 1 : 0);
    await until(
      "its copy to be as reported",
      async () => (await keeps(name, lane, agentSessionId!)) === kept,
      patienceMs,
    );
    await until("nothing of it to run", () => lane.tree().length === 0, patienceMs);
    await lane.spawn("history?");
    expect((await lane.ended(`${lane.id}-first`)).text).toContain("history: turns=0 ");
    expect((await lane.show()).agentSessionId).not.toBe(agentSessionId);
  });

  test.runIf(canMount())(
    "[CHAT-84] a turn loses nothing if the disk fills up and is then freed (needs to mount a disk)",
    async () => {
      expect(await runOnSmallDisk(fixture, name)).toEqual({
        whileFull: { freeBytes: 0, stopReason: null },
        turn: { text: "one\ntwo\nthree\n", stopReason: "end_turn", ends: 1 },
        samePid: true,
        turns: "1",
        damaged: false,
      });
    },
  );
});

function open(name: RealAgent): Promise<ChatLane> {
  const lane = lanes.get(name) ?? ChatLane.open(name);
  lanes.set(name, lane);
  return lane;
}

/** Complete ones: the last may still be written. */
function lines(text: string): Record<string, unknown>[] {
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
