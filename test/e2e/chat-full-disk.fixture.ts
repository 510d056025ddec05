/** Runs in its own mount namespace (see small-disk.ts) and prints the outcome of two turns on a full disk. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { readStat } from "../../src/base/pid.ts";
import { ChatHome } from "../harness/chat.ts";
import { SmallDisk, tellFrom } from "../harness/small-disk.ts";
import { until } from "../harness/until.ts";

/** More than is reserved, and so slow that a busy machine has two seconds to pause it: for the last quarter of the reserve. */
const floodMb = 1.5;
const megabytesPerSecond = 0.125;

await using home = new ChatHome();
const disk = new SmallDisk(home.home);
await tellFrom(disk, home, run);

async function run(): Promise<object> {
  const rate = {
    FLOODS_MB: String(floodMb),
    FLOODS_MB_PER_S: String(megabytesPerSecond),
    FLOODS_GATE: join(home.gates, "flood"),
  };
  await home.begin({ floods: { program: "floods", env: rate } });

  const talking = await home.chat("say: one\ngate: a\nsay: two\ngate: b\nsay: three");
  await home.says(talking, "one\n");
  const flooding = await home.chat(undefined, "floods");
  const agents = [await home.agent(talking), await home.agent(flooding)];
  await home.send(flooding, "go");
  await until("the reserve", () => statSync(join(home.launchDirectory(flooding), "out")).blocks * 512 >= 1024 * 1024);

  disk.fill();
  home.openGate("flood");
  home.openGate("a");
  await until("the agent to say it from its reserve", () => home.output(talking).includes('"two'));
  const flooder = agents[1]!.pid;
  await until("the other to be held", () => readStat(flooder)?.state === "T");
  const whileFull = {
    freeBytes: disk.freeBytes(),
    statuses: [(await home.show(talking)).status, (await home.show(flooding)).status],
  };
  disk.free();
  home.openGate("b");

  const turns = [(await home.ended(talking))[0]!, (await home.ended(flooding))[0]!];
  const flooded = home
    .output(flooding)
    .split("\n")
    .find((line) => line.includes("xxx"))!;
  const lines = Math.ceil((floodMb * 1024 * 1024) / (flooded.length + 1));
  const damaged = [
    ...(await home.ofType(talking, "output.damaged")),
    ...(await home.ofType(flooding, "output.damaged")),
  ];
  const after = [await home.agent(talking), await home.agent(flooding)];
  const history = await home.turn(talking, "history?");
  return {
    whileFull,
    text: turns[0]!.text,
    stopReasons: turns.map(({ stopReason }) => stopReason),
    wholeFlood: turns[1]!.text === "x".repeat(lines * 4096),
    damaged,
    sameAgents: JSON.stringify(after) === JSON.stringify(agents),
    history: history.text.includes("turns=1 "),
  };
}
