/**
 * Each real agent over ACP under the real daemon: one session per agent, whose tests build on each other. All
 * agents start before any of them is resumed, and Gemini starts first and is resumed last, because it must not be resumed
 * in the minute in which its conversation started: our runtime would wait.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { isRunning } from "../harness/marked.ts";
import { until } from "../harness/until.ts";
import { digest } from "../model-server/script.ts";
import { ChatLane, patienceMs } from "./chat-lane.ts";
import { builtInAgents } from "../../src/agents/registry.ts";
import { laneAgents, realAgents, type RealAgent } from "./agents/agents.ts";

const mustWait = (name: RealAgent): boolean =>
  builtInAgents.find(({ id }) => id === name)?.chat?.noLoadInBirthMinute === true;
const order = realAgents("chat").toSorted((a, b) => Number(mustWait(b)) - Number(mustWait(a)));
const lanes = new Map<RealAgent, Promise<ChatLane>>();
/** The prompts of each conversation, in order: `history?` must prove them. */
const told = new Map<RealAgent, string[]>(order.map((name) => [name, []]));

/** A valid PNG of 8 by 8 pixels: some agents decode it. */
const squarePng =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAMklEQVR4nG3CMREAIAADsSpBCUqYXwRKUIKIn1GEgeaSYD+wzsQ6C+tsrHOwzsU6" +
  "D+sPn7VlQaooJPwAAAAASUVORK5CYII=";
const first = "say: first words";
const twoGates = "say: begun\ngate: one\nsay: middle\ngate: two\nsay: finished";
const whileAway = "say: leaving\ngate: away\nsay: done alone";
const asking = "say: asking\ngate: ask\ntool: bash touch made";
/** A running tool, and its child in its own process session. */
const toolRuns = "say: running\ntool: bash setsid sleep 4712 & sleep 4711";

afterAll(async () => {
  for (const lane of lanes.values()) await (await lane)[Symbol.asyncDispose]();
});

describe.each(order)("%s keeps running without a daemon", (name) => {
  test("[CHAT-76] the first prompt's turn ends with its text, once", async () => {
    const lane = await open(name);
    await lane.spawn(first);
    told.get(name)!.push(first);
    expect(await lane.ended("ma-1-first")).toEqual({ text: said("first words"), stopReason: "end_turn", ends: 1 });
    expect((await lane.show()).agentSessionId).toMatch(/^[\w-]{8,}$/);
  });

  test("[CHAT-77] killing the daemon in mid-turn changes nothing: same agent, complete text, true stop reason", async () => {
    const lane = await open(name);
    const pid = lane.pid(await lane.show());
    const promptId = await lane.send(twoGates);
    told.get(name)!.push(twoGates);
    await lane.said(promptId, "begun");
    await lane.home.crash();
    lane.model.openGate("one");
    await lane.outSays(/middle/);
    await lane.home.ok(["start"]);
    await lane.said(promptId, "middle");
    expect((await lane.seen(promptId)).stopReason).toBeNull();
    lane.model.openGate("two");
    const turn = await lane.ended(promptId);
    expect(turn).toEqual({ text: said("begun", "middle", "finished"), stopReason: "end_turn", ends: 1 });
    expect(lane.pid(await lane.show())).toBe(pid);
  });

  test("[CHAT-78] a turn that ends while no daemon runs has its true stop reason once one does", async () => {
    const lane = await open(name);
    const pid = lane.pid(await lane.show());
    const promptId = await lane.send(whileAway);
    told.get(name)!.push(whileAway);
    await lane.said(promptId, "leaving");
    await lane.home.crash();
    lane.model.openGate("away");
    await lane.outSays(new RegExp(`p:${promptId}`));
    await lane.home.ok(["start"]);
    const turn = await lane.ended(promptId);
    expect(turn).toEqual({ text: said("leaving", "done alone"), stopReason: "end_turn", ends: 1 });
    expect(lane.pid(await lane.show())).toBe(pid);
  });

  test("[CHAT-79] a permission request made while no daemon runs is answered later, once", async () => {
    const lane = await open(name);
    const promptId = await lane.send(asking);
    told.get(name)!.push(asking);
    await lane.said(promptId, "asking");
    await lane.home.crash();
    lane.model.openGate("ask");
    await lane.outSays(/session\/request_permission/);
    await lane.home.ok(["start"]);
    const { requestId } = await lane.asked();
    expect((await lane.show()).status).toBe("needs_input");
    expect(existsSync(join(lane.workspace, "made"))).toBe(false);
    const answers = await Promise.all([lane.answer(requestId), lane.answer(requestId)]);
    expect(answers.filter(({ answered }) => answered)).toHaveLength(1);
    const turn = await lane.ended(promptId);
    expect(turn).toMatchObject({ stopReason: "end_turn", ends: 1 });
    expect(turn.text).toMatch(/^asking\n/);
    expect(existsSync(join(lane.workspace, "made"))).toBe(true);
    expect(await lane.answer(requestId)).toMatchObject({ answered: false });
  });
});

describe.each(order.toReversed())("%s comes back into its conversation", (name) => {
  test("[CHAT-80] after a stop in mid-turn that leaves no process, not even the running tool and its detached child", async () => {
    const lane = await open(name);
    const promptId = await lane.send(toolRuns);
    const running = (): boolean => {
      const what = lane.tree().map((one) => one.what);
      return [/(^|\s)sleep 4711$/, /(^|\s)sleep 4712$/].every((pattern) => what.some((one) => pattern.test(one)));
    };
    await until(
      "the tool to run",
      async () => {
        if ((await lane.show()).permissions.length > 0) await lane.answer();
        return running();
      },
      patienceMs,
    );
    await lane.home.ok(["session", "stop", lane.id]);
    expect(lane.tree()).toEqual([]);
    expect((await lane.seen(promptId)).stopReason).toBe("cancelled");
    told.get(name)!.push(toolRuns);
    expect(await lane.turn("history?")).toMatchObject({ text: expect.stringContaining(history(name)) });
  });

  test("[CHAT-81] after its agent was killed", async () => {
    const lane = await open(name);
    const before = await lane.show();
    const pid = lane.pid(before);
    const old = lane.tree();
    if (laneAgents[name].writesLate === true) await lane.transcriptSays(/history: turns=/);
    process.kill(pid, "SIGKILL");
    await lane.replaced(pid);
    expect(old.filter((one) => isRunning(one.pid))).toEqual([]);
    expect(await lane.turn("history?")).toMatchObject({ text: expect.stringContaining(history(name)) });
    expect((await lane.show()).agentSessionId).toBe(before.agentSessionId);
    expect(await lane.types()).not.toContain("context.reset");
  });

  test("[CHAT-82] or reports that it is gone, and a new one starts with a notice", async () => {
    const lane = await open(name);
    const before = await lane.show();
    await lane.home.ok(["session", "stop", lane.id]);
    lane.forgetConversations();
    told.set(name, []);
    expect(await lane.turn("history?")).toMatchObject({ text: expect.stringContaining(history(name)) });
    expect(await lane.types()).toContain("context.reset");
    expect((await lane.show()).agentSessionId).not.toBe(before.agentSessionId);
  });
});

describe.each(order.toReversed())("%s loses what stands around it", (name) => {
  test("[CHAT-83] after keeper and feeder die it resumes its conversation and answers the prompt", async () => {
    const lane = await open(name);
    const session = await lane.show();
    const pids = [lane.pid(session, "keeper"), lane.pid(session, "feeder")];
    for (const pid of pids) process.kill(pid, "SIGKILL");
    // A dying agent would still accept the prompt, and lose it.
    await until("both to be gone", () => !pids.some(isRunning));
    expect(await lane.turn("history?")).toMatchObject({ text: expect.stringContaining(history(name)) });
    expect(lane.pid(await lane.show())).not.toBe(lane.pid(session));
    expect((await lane.show()).agentSessionId).toBe(session.agentSessionId);
  });
});

describe.each(order)("%s receives more than text", (name) => {
  test("[CHAT-89] an image, a file's content and a file's path reach the model", async () => {
    const lane = await open(name);
    writeFileSync(join(lane.workspace, "notes.md"), "the words of a file\n");
    // Separately: gemini drops an image from a prompt that also refers to files.
    const image = await lane.send("say: seen", [{ type: "image", mimeType: "image/png", data: squarePng }]);
    expect(await lane.ended(image)).toMatchObject({ text: said("seen"), stopReason: "end_turn" });
    const files = await lane.send("say: read", [
      { type: "file", path: "notes.md", text: "only these words" },
      { type: "file", path: "notes.md" },
    ]);
    expect(await lane.ended(files)).toMatchObject({ text: expect.stringMatching(/^read/), stopReason: "end_turn" });
    const sent = lane.model.log.map(({ body }) => JSON.stringify(body ?? "")).join("\n");
    const proof = laneAgents[name].insteadOfImage ?? squarePng;
    for (const words of [proof, "only these words", "notes.md"]) expect(sent.includes(words), words).toBe(true);
  });
});

function open(name: RealAgent): Promise<ChatLane> {
  const lane = lanes.get(name) ?? ChatLane.open(name);
  lanes.set(name, lane);
  return lane;
}

/** The model ends each text with a line break. */
function said(...words: string[]): string {
  return words.map((word) => `${word}\n`).join("");
}

/** Questions about the history count as turns too. */
function history(name: RealAgent): string {
  const turns = told.get(name)!;
  const line = `history: turns=${turns.length} digest=${digest(turns)}`;
  turns.push("history?");
  return line;
}
