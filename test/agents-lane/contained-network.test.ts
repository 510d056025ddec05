/**
 * Each real agent, contained, with an allow list: it reaches its model through the proxy but no other port, and
 * finishes its task.
 */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createRelay, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../harness/until.ts";
import { ChatLane, patienceMs } from "./chat-lane.ts";
import { builtInAgents } from "../../src/agents/registry.ts";
import { realAgents } from "./agents/agents.ts";

/** A local service that is not listed: the lane's stand-in for a database, or for Holdfast. */
const foreign = createServer((_request, response) => response.end("foreign service"));
let port = 0;
beforeAll(async () => {
  foreign.listen(0, "127.0.0.1");
  await new Promise((resolve) => foreign.once("listening", resolve));
  port = (foreign.address() as AddressInfo).port;
});
afterAll(() => void foreign.close());

/** Another loopback address, which no agent takes for its own: it must use the proxy. */
const elsewhere = "127.0.0.2";

describe.each(realAgents("network"))("%s, with an allow list", (name) => {
  test("[NETWORK-8, NETWORK-18] it reaches its model through the proxy but no other port, and finishes its task", async () => {
    let modelPort = 0;
    const relay = createRelay((socket) => {
      const model = connect(modelPort, "127.0.0.1");
      // Either side may be stopped first.
      socket.on("error", () => model.destroy());
      model.on("error", () => socket.destroy());
      socket.pipe(model).pipe(socket);
    });
    await new Promise<void>((resolve) => relay.listen(0, elsewhere, resolve));
    const seen = `${elsewhere}:${(relay.address() as AddressInfo).port}`;
    await using lane = await ChatLane.open(
      name,
      () => undefined,
      (url) => {
        modelPort = Number(new URL(url).port);
        return url.replace(new URL(url).host, seen);
      },
    );
    const places = [
      `--noproxy '*' http://127.0.0.1:${port}/`,
      `--noproxy none http://127.0.0.1:${port}/`,
      "https://foreign.example/",
    ];
    const script = [
      ...places.map((place) => `tool: bash curl -sS -m 20 ${place} >>answers 2>&1; echo >>answers`),
      "write: work.txt done by the agent",
      'tool: bash git add work.txt && git -c user.name=A -c user.email=a@localhost commit -qm "from inside"',
      "say: finished",
    ];
    await lane.spawn(script.join("\n"), "--contain", "worktree", "--network", seen);
    const promptId = `${lane.id}-first`;
    await until(
      "the turn to end",
      async () => {
        for (const { requestId } of (await lane.show()).permissions) await lane.answer(requestId);
        return (await lane.seen(promptId)).stopReason !== null;
      },
      patienceMs,
    );
    expect((await lane.seen(promptId)).text).toContain("finished");
    const policy = readFileSync(join(lane.home.home, "network", lane.id, "policy.json"), "utf8");
    const hosts = builtInAgents.find(({ id }) => id === name)?.hosts ?? [];
    expect((JSON.parse(policy) as { allow: string[] }).allow).toEqual(expect.arrayContaining([...hosts, seen]));
    const answers = readFileSync(join(lane.workspace, "answers"), "utf8");
    expect(answers).not.toContain("foreign service");
    expect(answers).toMatch(/Failed to connect[^]*Blocked by Holdfast[^]*403/);
    const { branch } = await lane.show();
    await until("the commit to arrive", async () => {
      return (await lane.home.git(lane.home.repo, ["log", "-1", "--format=%s", branch!])) === "from inside";
    });
    await until("the refusals in the session", async () => {
      const texts = (await lane.events()).map((event) => (event.type === "notice" ? String(event["text"]) : ""));
      return [`127.0.0.1:${port}`, "foreign.example:443"].every((place) => texts.some((text) => text.includes(place)));
    });
    relay.close();
  });
});
