/** A wrong clock: nothing in the trash may be emptied because of it. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../harness/until.ts";
import { checkWork } from "../audit.ts";
import type { Run, Scenario } from "../report.ts";
import { World } from "../world.ts";

const dayMs = 24 * 3_600_000;
/** How often policies run here; a minute in the product. */
const policyMs = 200;

export const clockAhead: Scenario = {
  name: "clock-ahead",
  group: "fault",
  promise: "a clock that is 20 days ahead for a while empties nothing from the trash",
  run: (run) => jump(run, 0, 20 * dayMs),
};

export const clockBehind: Scenario = {
  name: "clock-behind",
  group: "fault",
  promise: "a session killed while the clock was 30 days behind is kept when the clock is set right",
  run: (run) => jump(run, -30 * dayMs, 0),
};

async function jump(run: Run, before: number, during: number): Promise<void> {
  const world = new World({ HOLDFAST_TEST_MINUTE_MS: String(policyMs) });
  world.env["HOLDFAST_TEST_CLOCK"] = join(world.directory, "clock");
  setClock(world, before);
  await using _ = world;
  await world.begin();
  const session = await world.start("chat");
  await until("its work to be noted", () => world.ledger.of(session, "work").length > 0);
  await world.call("kill", session, { body: {} });
  const kept = async (): Promise<boolean> => (await world.call("trash")).some((entry) => entry.session === session);
  run.check(await kept(), "lost", `${session} is not in the trash after its kill`);
  setClock(world, during);
  await rounds(world);
  run.check(await kept(), "lost", "the trash was emptied by a jump of the clock");
  await world.crash();
  run.count("kills");
  await world.calm();
  await rounds(world);
  run.check(await kept(), "lost", "the trash was emptied by a daemon that started with the moved clock");
  setClock(world, 0);
  await rounds(world);
  await checkWork(run, world);
  const restored = await world.cli(["session", "restore", session]);
  run.check(restored.code === 0, "lost", `restore after the jump: ${restored.stderr.trim()}`);
  await checkWork(run, world);
}

/** Renamed into place: half a number would be another time. */
function setClock(world: World, ms: number): void {
  const path = join(world.directory, "clock");
  writeFileSync(`${path}.new`, String(ms));
  renameSync(`${path}.new`, path);
}

/** Several complete rounds of the policies, however busy the machine is. */
async function rounds(world: World): Promise<void> {
  for (let n = 0; n < 4; n++) {
    rmSync(join(world.points, "policies.ran.reached"), { force: true });
    await world.reached("policies.ran");
  }
}
