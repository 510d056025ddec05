/** Settings that were kept of a file, when the file or the trust in it is gone. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idsWithoutTrust } from "../agents/registry.ts";
import { openProjects } from "../config/projects.ts";
import { asProjectId } from "../contract/ids.ts";
import { makeHome } from "../store/store.fixture.ts";
import { openSavedEnvironment, knownSettings } from "./known-settings.ts";
import { keptTrust } from "./trust-answers.ts";

const log = { debug() {}, info() {}, warn() {}, error() {}, hide() {} };
const project = asProjectId("app");
const config = "projects: {app: {env: {X: '1'}, postCreate: [make]}}\nagents: {mine: {chat: {command: [mine]}}}\n";

async function world() {
  const home = makeHome();
  const store = home.open();
  const path = join(home.directory, "app");
  for (const name of ["objects", "refs"]) mkdirSync(join(path, ".git", name), { recursive: true });
  writeFileSync(join(path, ".git/HEAD"), "ref: refs/heads/main\n");
  const file = join(path, "holdfast.yaml");
  const row = { id: project, path, prefix: "a", configFile: file, addedAt: 0 };
  await store.putProject(row);
  const trust = keptTrust(store, Date.now);
  const projects = openProjects({ userConfig: join(home.directory, "config.yaml"), trust });
  const known = () =>
    knownSettings({
      store,
      projects,
      log,
      trust,
      keptEnv: openSavedEnvironment(join(home.directory, "env.json"), log),
      agentsWithoutTrust: idsWithoutTrust,
    });
  return { store, row, trust, projects, known, write: (text: string) => writeFileSync(file, text) };
}

const off = { env: {}, postCreate: [], agents: [], tracker: null };

test("[TRUST-3] a change of the file takes its parts off at the next read, until it is trusted again", async () => {
  const { known, row, trust, projects, write } = await world();
  write(config);
  const settings = known();
  expect(await settings.read(row)).toMatchObject({ ...off, trust: { state: "undecided" } });
  await trust.answer((await projects.trustOf(row))!, true);
  expect(await settings.read(row)).toMatchObject({ postCreate: ["make"], trust: { state: "trusted" } });
  write(config.replace("make", "evil"));
  expect(await settings.forSession(project)).toMatchObject({ ...off, trust: { state: "changed" } });
  await trust.answer((await projects.trustOf(row))!, true);
  expect(await settings.forSession(project)).toMatchObject({ postCreate: ["evil"] });
  write(config);
  expect(await settings.forSession(project)).toMatchObject({ postCreate: ["make"] });
});

test("[TRUST-14] kept settings of a file that cannot be read count only while the user trusts that version", async () => {
  const { known, row, trust, projects, write } = await world();
  write(config);
  const question = (await projects.trustOf(row))!;
  await trust.answer(question, true);
  await known().read(row);
  write("projects: [");
  for (const settings of [known(), known()]) {
    expect(await settings.forSession(project)).toMatchObject({ postCreate: ["make"], agents: [{ id: "mine" }] });
  }
  await trust.answer(question, false);
  expect(await known().forSession(project)).toMatchObject({ ...off, trust: { state: "declined" } });
  expect(known().last(project)).toMatchObject(off);
});

test("[TRUST-14] what an earlier build kept of a file does not count before the user was asked", async () => {
  const { known, store, row, write } = await world();
  write("projects: [");
  const settings = {
    id: project,
    path: row.path,
    prefix: "a",
    defaultBranch: "main",
    agent: "mine",
    kind: "chat",
    env: { X: "1" },
    symlinks: ["a"],
    copy: ["b"],
    postCreate: ["make"],
    passEnv: ["SECRET"],
    configFile: row.configFile,
    tracker: { type: "github" },
    codeHost: null,
    reactions: { exited: { action: "notify" } },
    notify: {},
    agents: [{ id: "mine", from: "project" }],
  };
  const keep = (value: object) => store.putSetting("project.app.settings", JSON.stringify(value));
  await keep(settings);
  expect(await known().forSession(project)).toMatchObject({
    ...off,
    symlinks: [],
    copy: [],
    passEnv: [],
    reactions: {},
    agent: "claude",
    kind: "chat",
    trust: { state: "undecided" },
  });
  // Without a file all of them are the user's own.
  await keep({ ...settings, configFile: null, agent: "codex" });
  expect(known().last(project)).toMatchObject({ passEnv: ["SECRET"], agent: "codex", trust: { state: "none" } });
});

test("[TRUST-13] a file that came after the project was registered does not count, and is reported", async () => {
  const { known, row, write } = await world();
  const without = { ...row, configFile: null };
  expect((await known().read(without)).trust.notices).toEqual([]);
  write(config);
  expect(await known().read(without)).toMatchObject({
    ...off,
    trust: { state: "none", notices: [expect.stringContaining(`holdfast project add ${row.path}`) as string] },
  });
});
