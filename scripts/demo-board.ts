/** A home with a believable set of sessions for the screenshots. The demo agent plays every agent. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ChatHome } from "../test/harness/chat.ts";
import type { SpawnRequest } from "../src/contract/spawn.ts";

const files: Record<string, string> = {
  "package.json": '{\n  "name": "orchard",\n  "type": "module",\n  "scripts": { "test": "node --test" }\n}\n',
  "src/harvest.js": `/** How many crates a harvest fills. */
export function cratesFor(apples, crateSize = 24) {
  return Math.floor(apples / crateSize);
}

export function label(crate) {
  return \`Crate \${crate.number}: \${crate.apples} apples\`;
}
`,
  "src/weather.js": `export function isFrost(celsius) {
  return celsius < 0;
}
`,
  "test/harvest.test.js": `import { test } from "node:test";
import assert from "node:assert/strict";
import { cratesFor } from "../src/harvest.js";

test("a full crate", () => assert.equal(cratesFor(24), 1));
`,
};

/** The session whose chat is shown, and the one whose terminal and changes are shown. */
export interface DemoBoard {
  home: ChatHome;
  chat: string;
  terminal: string;
  changes: string;
}

export async function openDemoBoard(): Promise<DemoBoard> {
  const home = new ChatHome();
  mkdirSync(home.gates);
  await home.ok(["start", "--port", "0"]);
  for (const [name, prefix] of [
    ["orchard", "or"],
    ["greenhouse", "gh"],
  ] as const) {
    const path = await home.repository(name);
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(path, file)), { recursive: true });
      writeFileSync(join(path, file), text);
    }
    const config = {
      projects: { [name]: { path: ".", prefix, agent: "demo", env: { HOLDFAST_DEMO_GATES: home.gates } } },
    };
    writeFileSync(join(path, "holdfast.yaml"), JSON.stringify(config));
    await home.git(path, ["add", "-A"]);
    await home.git(path, ["commit", "-q", "-m", "The beginnings"]);
    await home.ok(["project", "add", path]);
  }
  return { home, ...(await fill(home)) };
}

async function fill(home: ChatHome): Promise<Omit<DemoBoard, "home">> {
  const make = (name: string, more: Partial<SpawnRequest>): Promise<string> =>
    home
      .call("spawn", "-", { body: { project: "orchard", agent: "demo", kind: "chat", name, ...more } })
      .then(({ id }) => id);
  const lines = (...steps: string[]): string => steps.join("\n");

  const asking = await make("Crates are rounded the wrong way", {
    branch: "fix-crates",
    prompt: lines(
      "Half-full crates are not counted. Find out why, fix it, and prove it with a test.",
      "think: cratesFor uses Math.floor, so 30 apples need one crate and six apples stay on the ground. The label may rely on full crates; I should look before I change it.",
      "plan: Read the code, Write a failing test, Fix the rounding, Run the tests",
      "tool: cat src/harvest.js",
      "say: `cratesFor` rounds **down**: 30 apples fill one crate and the other six are forgotten. A crate that is begun has to be counted.",
      "edit: src/notes.md Crates that are begun are counted: Math.ceil.",
      "tool: git diff --stat",
      "say: The fix is one word. Before I push it I would like to run the full suite, which also talks to the scale.",
      "ask: npm test -- --with-scale",
    ),
  });
  const working = await make("Frost warnings by message", {
    branch: "frost-warnings",
    prompt: lines(
      "Warn me in the evening when the night will be frosty.",
      "plan: Read the forecast, Find the threshold, Send the message",
      "think: isFrost compares with zero, but blossoms suffer at minus two already.",
      "tool: ls src test",
      "say: I start with the forecast, then the threshold per variety.",
      "gate: never",
    ),
  });
  const terminal = await make("Move the tests to node:test", {
    kind: "terminal",
    branch: "node-test",
    prompt: "say: Three suites are moved; the fourth needs a fake clock.",
  });
  await make("Watering schedule for August", {
    project: "greenhouse",
    prompt: lines("say: The schedule is in docs/watering.md. Tuesdays are free now."),
  });
  await make("Which pumps are on the roof?", { project: "greenhouse", prompt: lines("fail: The model is overloaded") });
  const done = await make("Rename Tree to Plant", { project: "greenhouse", prompt: "say: Renamed in 14 files." });
  const stopped = await make("Try the new sensor driver", {
    project: "greenhouse",
    kind: "terminal",
    prompt: "say: The driver answers every second.",
  });
  const crashing = await make("Import last year's harvest", { prompt: "exit: 3", kind: "terminal" });

  await home.status(asking, "needs_input");
  await home.status(working, "working");
  await home.status(crashing, "failed", "exited", "idle");
  await home.ended(done);
  await home.call("kill", done, { body: {} });
  await home.call("stop", stopped, { body: {} });
  const { workspacePath } = await home.show(asking);
  writeFileSync(join(workspacePath, "src/harvest.js"), files["src/harvest.js"]!.replace("Math.floor", "Math.ceil"));
  writeFileSync(
    join(workspacePath, "test/harvest.test.js"),
    `${files["test/harvest.test.js"]}test("a crate that is begun", () => assert.equal(cratesFor(30), 2));\n`,
  );
  return { chat: asking, terminal, changes: asking };
}
