/** Runs in its own mount namespace (see small-disk.ts): one real agent whose disk fills up in mid-turn and is then freed. */
import { SmallDisk, tellFrom } from "../harness/small-disk.ts";
import { ChatLane } from "./chat-lane.ts";
import type { RealAgent } from "./agents/agents.ts";

let disk: SmallDisk | undefined;
await using lane = await ChatLane.open(process.argv[2] as RealAgent, ({ home }) => {
  disk = new SmallDisk(home);
});
await tellFrom(disk!, lane.home, () => run(disk!));

async function run(disk: SmallDisk): Promise<object> {
  await lane.spawn("say: one\ngate: a\nsay: two\ngate: b\nsay: three");
  const first = `${lane.id}-first`;
  await lane.said(first, "one");
  const pid = lane.pid(await lane.show());
  disk.fill();
  lane.model.openGate("a");
  await lane.outSays(/two/);
  const whileFull = { freeBytes: disk.freeBytes(), stopReason: (await lane.seen(first)).stopReason };
  disk.free();
  lane.model.openGate("b");
  const turn = await lane.ended(first);
  const next = await lane.turn("history?");
  return {
    whileFull,
    turn,
    samePid: lane.pid(await lane.show()) === pid,
    turns: /history: turns=(\d+)/.exec(next.text)?.[1],
    damaged: (await lane.types()).includes("output.damaged"),
  };
}
