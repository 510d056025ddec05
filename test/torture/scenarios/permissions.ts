/** Permission requests answered by two clients at the same time, across daemon kills: one answer each, the reported one. */
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../../harness/until.ts";
import type { Run, Scenario } from "../report.ts";
import { World } from "../world.ts";

const optionOf = { allow: "yes", deny: "no" } as const;
type Answer = keyof typeof optionOf;

export const permissions: Scenario = {
  name: "permissions",
  group: "storm",
  promise: "a permission request is answered once, by any client, also after a daemon restart",
  share: 1,
  run: async (run) => {
    await using world = await World.open();
    const session = await world.start("chat");
    for (let n = 0; n === 0 || !run.timeIsUp; n++) await oneRequest(run, world, session, `q${n}`);
  },
};

async function oneRequest(run: Run, world: World, session: string, token: string): Promise<void> {
  const before = world.ledger.of(session, "answer").length;
  await world.call("prompt", session, { body: { promptId: token, text: `${token} ask`, waitMs: 0 } });
  run.count("prompts");
  const requestId = await until(
    `${token} to be asked`,
    async () => (await world.show(session)).permissions[0]?.requestId,
  );
  if (run.random.chance(0.4)) await crash(run, world, 0);
  const answers: { wanted: Answer; fate: "counted" | "late" | "cut" }[] = [];
  const clients = [...Array(2).keys()].map(async () => {
    const wanted: Answer = run.random.pick(["allow", "deny"]);
    for (let tries = 0; tries < 50; tries++) {
      try {
        const { answered } = await world.call("answer", session, { body: { requestId, answer: wanted } });
        answers.push({ wanted, fate: answered ? "counted" : "late" });
        return;
      } catch (error) {
        const code = (error as { code?: string }).code;
        answers.push({ wanted, fate: code === "unreachable" ? "cut" : "late" });
        if (code !== "unreachable") return;
        await delay(100);
      }
    }
  });
  if (run.random.chance(0.7)) await crash(run, world, run.random.between(0, 60));
  await Promise.all(clients);
  await until(
    `${token} to end`,
    async () => {
      const { status, permissions } = await world.show(session);
      return status === "idle" && permissions.length === 0;
    },
    60_000,
  ).catch((error: unknown) => run.bad("untrue", `${token}: ${String(error)}`));

  const arrived = world.ledger
    .of(session, "answer")
    .slice(before)
    .map(({ value }) => value?.split("=")[1] ?? "");
  run.check(arrived.length > 0, "lost", `${token}: no answer arrived; ${JSON.stringify(answers)}`);
  run.check(arrived.length <= 1, "doubled", `${token}: ${arrived.length} answers arrived`);
  const counted = answers.filter(({ fate }) => fate === "counted");
  run.check(counted.length <= 1, "untrue", `${token}: ${counted.length} clients got an answer that theirs counted`);
  const won = counted[0];
  if (won !== undefined)
    run.check(
      arrived[0] === optionOf[won.wanted],
      "untrue",
      `${token}: ${won.wanted} counted but ${arrived[0]} arrived`,
    );
}

async function crash(run: Run, world: World, afterMs: number): Promise<void> {
  await delay(afterMs);
  if ((await world.killDaemons()) > 0) run.count("kills");
  await world.calm();
}
