/**
 * The delivery matrix: each real agent, prompted at the worst moments through the real daemon and the CLI, against
 * a ledger of what the model received. `HOLDFAST_TEST_ROUNDS` sets the rounds (default 3), `HOLDFAST_TEST_AGENTS` the
 * agents. All agents run at the same time in one daemon, so that the machine is busy while they start.
 */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunning } from "../harness/marked.ts";
import { ProjectHome } from "../harness/project.ts";
import { until } from "../harness/until.ts";
import { startModelServer, type ModelServer } from "../model-server/server.ts";
import { binDirectory, laneAgents, prepareRealAgent, realAgents, type RealAgent } from "./agents/agents.ts";

const rounds = Number(process.env["HOLDFAST_TEST_ROUNDS"] ?? 3);
const agents = realAgents("delivery");
/** OpenCode takes over a minute to start on a busy machine, and as long again for its first request. */
const patienceMs = 300_000;

interface Line {
  agent: RealAgent;
  way: string;
  round: number;
  receipt: string;
  arrived: boolean;
  seconds: number;
}

function words({ agent, way, round, receipt, arrived, seconds }: Line): string {
  return `${agent} ${way} ${round}: ${receipt}${arrived ? "" : ", NOT ARRIVED"} (${seconds.toFixed(1)} s)`;
}

/** One line per agent and way: how many prompts arrived, their receipts, and the slowest. */
function matrix(ledger: readonly Line[]): string {
  const cells = Map.groupBy(ledger, ({ agent, way }) => `${agent.padEnd(9)}${way}`);
  const rows = [...cells].toSorted(([a], [b]) => a.localeCompare(b));
  return rows
    .map(([cell, lines]) => {
      const arrived = lines.filter((line) => line.arrived).length;
      const receipts = [...Map.groupBy(lines, ({ receipt }) => receipt)].map(
        ([word, { length }]) => `${length} ${word}`,
      );
      const slowest = Math.max(...lines.map(({ seconds }) => seconds)).toFixed(1);
      return `${cell.padEnd(20)} arrived ${arrived}/${lines.length}  ${receipts.join(", ")}  slowest ${slowest} s`;
    })
    .join("\n");
}

/** Variants of a prompt around its step. Prompts behind `asked` are below the text of a question. */
const shapes: Record<string, (step: string) => string> = {
  paragraphs: (step) => `Hi,\n\n${step}\n\nThanks`,
  list: (step) => `1. first\n2. second\n\n${step}`,
  asked: (step) => `Do you want to proceed?\n${step}`,
  after: (step) => step,
};

const prefixOf = (name: RealAgent): string => name.slice(0, 2);

/** Two projects per agent: one unchanged, one whose command sleeps three seconds before it becomes the agent. */
async function open(): Promise<{ home: ProjectHome; model: ModelServer }> {
  const model = await startModelServer();
  const home = await ProjectHome.make();
  const slow = join(home.directory, "slow");
  mkdirSync(slow);
  for (const name of agents) {
    const text = `#!/bin/sh\nsleep 3\nexec ${join(binDirectory(), name)} "$@"\n`;
    writeFileSync(join(slow, name), text);
    chmodSync(join(slow, name), 0o755);
  }
  home.env["PATH"] = `${binDirectory()}:${process.env["PATH"] ?? ""}`;
  await home.ok(["stop"]);
  await home.ok(["start", "--port", "0"]);
  for (const name of agents) {
    const places = ["", "slow-"].map((way) => ({ way, project: `${way}${name}` }));
    const folders: string[] = [];
    for (const { project, way } of places) {
      const prefix = `${way.slice(0, 1)}${prefixOf(name)}`;
      folders.push(join(home.directory, project));
      for (let n = 1; n <= rounds; n += 1) folders.push(join(home.paths.worktrees, project, `${prefix}-${n}`));
    }
    const env = prepareRealAgent(name, {
      home: join(home.directory, `${name}-home`),
      modelUrl: model.url,
      folders,
    });
    for (const { project, way } of places) {
      const repo = await home.repository(project);
      const PATH = way === "" ? env["PATH"]! : `${slow}:${env["PATH"]}`;
      const lines = Object.entries({ ...env, PATH }).map(([key, value]) => `      ${key}: ${JSON.stringify(value)}`);
      const prefix = `${way.slice(0, 1)}${prefixOf(name)}`;
      const head = [`projects:`, `  ${project}:`, `    path: .`, `    prefix: ${prefix}`, `    agent: ${name}`];
      writeFileSync(join(repo, "holdfast.yaml"), [...head, `    kind: terminal`, `    env:`, ...lines, ""].join("\n"));
      await home.ok(["project", "add", repo]);
    }
  }
  return { home, model };
}

/** Claude writes a turn to its transcript some 100 ms after it has reported its end; a SIGKILL before that loses it. */
function isWritten(home: ProjectHome, answer: string): boolean {
  const folder = join(home.directory, "claude-home/.claude/projects");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".jsonl"));
  const lines = files.flatMap((name) => readFileSync(join(folder, name), "utf8").split("\n"));
  return lines.some((line) => line.includes('"type":"assistant"') && line.includes(`"${answer}`));
}

test(`[SESSION-44] ${agents.join(", ")}: ${rounds} rounds of spawn, stop, SIGKILL and a slow start, each with an immediate send: none lost, none joined, no false receipt`, async () => {
  const { home, model } = await open();
  await using _ = home;
  const ledger: Line[] = [];
  const texts = new Map<RealAgent, string[]>(agents.map((name) => [name, []]));

  const requests = (text: string): string[][] =>
    model.log.flatMap(({ auxiliary, turns }) => (auxiliary !== true && turns?.at(-1)?.trim() === text ? [turns] : []));

  const send = async (
    agent: RealAgent,
    id: string,
    way: string,
    round: number,
    shape = (step: string): string => step,
  ): Promise<string[]> => {
    const text = `say: ${agent} ${way} ${round}`;
    texts.get(agent)!.push(text);
    const from = Date.now();
    const ran = await home.cli(["send", id, shape(text)], { timeoutMs: patienceMs });
    const receipt = `${ran.stdout}${ran.stderr}`.trim();
    const turns = await until(`the model to be sent ${text}`, () => requests(text)[0], patienceMs).catch(() => null);
    const line = { agent, way, round, receipt, arrived: turns !== null, seconds: (Date.now() - from) / 1000 };
    ledger.push(line);
    if (turns === null) {
      const screen = await home.cli(["session", "screen", id]);
      const events = await home.cli(["events", id]);
      console.log(`${words(line)}\n${screen.stdout}\n${events.stdout}`);
      return [];
    }
    await until(`${id} to be idle`, async () => (await home.show(id)).status === "idle", patienceMs);
    return turns;
  };

  const playShapes = async (agent: RealAgent, id: string): Promise<void> => {
    for (const [way, shape] of Object.entries(shapes)) await send(agent, id, way, 1, shape);
    const ran = await home.cli(["send", id, "!ls"], { timeoutMs: patienceMs });
    expect.soft(`${ran.stdout}${ran.stderr}`.trim(), `${agent} took !ls`).toMatch(/^(typed|delivered)/);
    await send(agent, id, "command", 1);
  };
  const kept = async (agent: RealAgent, id: string, turns: string[], earlier: string): Promise<void> => {
    if (!turns.includes(earlier)) console.log(`${id} lost its conversation\n${await home.ok(["events", id])}`);
    expect.soft(turns, `${agent} kept its conversation`).toContain(earlier);
  };
  const play = async (agent: RealAgent, round: number): Promise<void> => {
    const { id } = await home.json(["spawn", agent, "--name", `round ${round}`], { timeoutMs: patienceMs });
    await send(agent, id, "spawned", round);
    // Every agent gets every variant once, in its first round: each takes a few seconds in a running agent.
    if (round === 1) await playShapes(agent, id);
    await home.ok(["session", "stop", id]);
    await kept(agent, id, await send(agent, id, "stopped", round), `say: ${agent} spawned ${round}`);
    if (laneAgents[agent].writesLate === true)
      await until("it to be written", () => isWritten(home, `${agent} stopped ${round}`));
    const { pid } = await home.agent(id);
    process.kill(pid, "SIGKILL");
    await until("the agent to be gone", () => !isRunning(pid));
    await kept(agent, id, await send(agent, id, "killed", round), `say: ${agent} stopped ${round}`);
    await home.ok(["session", "kill", id]);
  };
  const playSlow = async (agent: RealAgent, round: number): Promise<void> => {
    const { id } = await home.json(["spawn", `slow-${agent}`, "--name", `round ${round}`], { timeoutMs: patienceMs });
    await send(agent, id, "slow", round);
    await home.ok(["session", "kill", id]);
  };

  try {
    await Promise.all(
      agents.map(async (agent) => {
        for (let round = 1; round <= rounds; round += 1) {
          await play(agent, round);
          await playSlow(agent, round);
        }
      }),
    );
  } finally {
    await model.close();
    console.log(matrix(ledger));
  }
  const all = new Set([...texts.values()].flat());
  const turns = new Set(model.log.flatMap((entry) => (entry.auxiliary === true ? [] : (entry.turns ?? []))));
  const joined = [...turns].filter(
    (turn) =>
      /say: \w+ (spawned|stopped|killed|slow|paragraphs|list|asked|after|command) \d/.test(turn) &&
      !all.has(turn.trim()),
  );
  expect({
    lost: ledger.filter(({ arrived }) => !arrived),
    joined,
    falseDelivered: ledger.filter(({ receipt, arrived }) => receipt === "delivered" && !arrived),
    // With the output of `!ls` an agent may send the conversation, which ends in that prompt, to its model again.
    twice: [...all].filter((text) => !text.includes(" after ") && requests(text).length > 1),
    unconfirmed: ledger.filter(({ receipt }) => /^(unconfirmed|refused)/.test(receipt)),
  }).toEqual({ lost: [], joined: [], falseDelivered: [], twice: [], unconfirmed: [] });
  expect(ledger).toHaveLength(agents.length * (rounds * 4 + Object.keys(shapes).length + 1));
}, 1_800_000);
