import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openProjectAgents } from "../agents/project-agents.ts";
import { thisMachine } from "../agents/registry.ts";
import { openProjects } from "../config/projects.ts";
import type { AgentConfiguration } from "../ports/agents.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { ProjectRow } from "../ports/store.ts";
import { asProjectId } from "../contract/ids.ts";
import { makeHome } from "../store/store.fixture.ts";
import { knownAgents } from "./known-agents.ts";
import { keptTrust } from "./trust-answers.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const good = (word: string): string => `agents: {claude: {chat: {args: [${word}]}}}\n`;
const wrong = "agents: {claude: {chat: {args: [--new]}\n";

function world() {
  const home = makeHome();
  const userConfig = join(home.directory, "config.yaml");
  const row: ProjectRow = { id: asProjectId("app"), path: home.directory, prefix: "a", configFile: null, addedAt: 0 };
  const store = home.open();
  /** As a daemon that starts does it; the answer is how it would launch a chat. */
  const start = async (last: AgentConfiguration[] = []) => {
    const agents = openProjectAgents(thisMachine());
    const known = knownAgents(agents, { store, log });
    const settings = { last: () => ({ agents: last }) as unknown as ProjectSettings };
    await known.begin(await openProjects({ userConfig, trust: keptTrust(store, Date.now) }).agents([row]), settings);
    const command = (project = "app") => agents.of({ project, agent: "claude" })?.chat?.command;
    return { known, command };
  };
  return { write: (text: string) => writeFileSync(userConfig, text), remove: () => rmSync(userConfig), start };
}

test("[CONFIG-20] a user's file that is wrong at a start keeps the arguments that it last gave", async () => {
  const { write, start, remove } = world();
  write(good("--careful"));
  const { command } = await start();
  expect(command()).toEqual(["claude-agent-acp", "--careful"]);
  write(wrong);
  for (const again of [await start(), await start()]) {
    expect([again.command(), again.command("other")]).toEqual([command(), command()]);
  }
  write(good("--other"));
  expect((await start()).command()).toEqual(["claude-agent-acp", "--other"]);
  // A file that is gone says that there are none.
  remove();
  expect((await start()).command()).toEqual(["claude-agent-acp"]);
  write(wrong);
  expect((await start()).command()).toEqual(["claude-agent-acp"]);
});

test("[CONFIG-20] what the file said while the daemon ran counts, too", async () => {
  const { write, start } = world();
  const { known } = await start();
  const said = { id: "claude", terminal: null, chat: null, args: ["--careful"], env: {}, model: null };
  await known.learn("app", [
    { ...said, from: "user" },
    { ...said, from: "project", args: ["--own"] },
  ]);
  write(wrong);
  expect((await start()).command()).toEqual(["claude-agent-acp", "--careful"]);
});

test("[CONFIG-20] a home of an earlier build has them in its projects' settings", async () => {
  const { write, start } = world();
  write(wrong);
  const said: AgentConfiguration = {
    id: "claude",
    from: "user",
    terminal: null,
    chat: null,
    args: ["--careful"],
    env: {},
    model: null,
  };
  const { command } = await start([said]);
  for (const project of ["app", "other"]) expect(command(project)).toEqual(["claude-agent-acp", "--careful"]);
});
