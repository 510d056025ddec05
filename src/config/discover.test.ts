import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ProjectRow } from "../ports/store.ts";
import { HoldfastError } from "../contract/errors.ts";
import { asProjectId } from "../contract/ids.ts";
import { findConfig } from "./repository.ts";
import { openProjects, type ConfiguredProjects } from "./projects.ts";
import { trustsAll } from "./trust.fixture.ts";

let root: string;
let projects: ConfiguredProjects;
let told: string[];
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-discover-")));
  told = [];
  projects = openProjects({
    userConfig: join(root, "config.yaml"),
    trust: trustsAll,
    onAgents: (project, said) => void told.push(...said.map(({ id, from }) => `${project}: ${id} of the ${from}`)),
    now: () => 7,
  });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const put = (path: string, text: string): void => {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
};
const makeRepository = (at: string): void => {
  for (const directory of ["objects", "refs"]) mkdirSync(join(root, at, ".git", directory), { recursive: true });
  put(join(at, ".git/HEAD"), "ref: refs/heads/main\n");
};
const row = (id: string, at: string, prefix: string, configFile: string | null = null): ProjectRow => ({
  id: asProjectId(id),
  path: join(root, at),
  prefix,
  configFile,
  addedAt: 1,
});
const refusal = async (work: Promise<unknown>): Promise<string[]> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof HoldfastError)) throw new Error(`expected a HoldfastError, got ${String(error)}`);
  return [error.code, error.message.replaceAll(root, "ROOT"), (error.hint ?? "").replaceAll(root, "ROOT")];
};

test("[CONFIG-12] the file is found upwards, up to the repository's root", () => {
  put("holdfast.yaml", "");
  makeRepository("app");
  mkdirSync(join(root, "app/src/deep"), { recursive: true });
  expect(findConfig(join(root, "app/src/deep"))).toBeNull();
  put("app/holdfast.yaml", "");
  expect(findConfig(join(root, "app/src/deep"))).toBe(join(root, "app/holdfast.yaml"));
  mkdirSync(join(root, "elsewhere"));
  expect(findConfig(join(root, "elsewhere"))).toBe(join(root, "holdfast.yaml"));
});

test("[CONFIG-13] a repository without a file is a project with defaults", async () => {
  makeRepository("My App");
  expect(await projects.at(join(root, "My App"), [])).toEqual([
    { id: "my-app", path: join(root, "My App"), prefix: "ma", configFile: null, addedAt: 7 },
  ]);
});

test("[CONFIG-13] id and prefix avoid those that are taken, and a second add keeps its own", async () => {
  makeRepository("a/my-app");
  makeRepository("b/my-app");
  const taken = [row("my-app", "a/my-app", "ma")];
  expect(await projects.at(join(root, "b/my-app"), taken)).toMatchObject([{ id: "my-app-2", prefix: "ma2" }]);
  expect(await projects.at(join(root, "a/my-app"), taken)).toMatchObject([{ id: "my-app", prefix: "ma" }]);
});

test("[CONFIG-13] a link to a repository is the same repository", async () => {
  makeRepository("app");
  symlinkSync(join(root, "app"), join(root, "link"));
  expect(await projects.at(join(root, "link"), [])).toMatchObject([{ id: "app", path: join(root, "app") }]);
});

test("[CONFIG-13] the projects of a file are found by its directory or by its name", async () => {
  makeRepository("app");
  makeRepository("app/lib");
  put("app/holdfast.yaml", "projects:\n  app: {}\n  my-lib: {path: lib, prefix: app}\n");
  const file = join(root, "app/holdfast.yaml");
  const expected = [
    { id: "app", path: join(root, "app"), prefix: "app2", configFile: file, addedAt: 7 },
    { id: "my-lib", path: join(root, "app/lib"), prefix: "app", configFile: file, addedAt: 7 },
  ];
  expect(await projects.at(join(root, "app"), [])).toEqual(expected);
  expect(await projects.at(file, [])).toEqual(expected);
});

test("[CONFIG-13] a file without projects describes its own repository", async () => {
  makeRepository("app");
  put("app/holdfast.yaml", "defaults: {agent: codex}\n");
  const [found] = await projects.at(join(root, "app"), []);
  expect(found).toMatchObject({ id: "app", configFile: join(root, "app/holdfast.yaml") });
  expect(found && (await projects.settings(found))).toMatchObject({ agent: "codex", defaultBranch: "main" });
});

test("[CONFIG-14] a path that is not a repository is refused", async () => {
  makeRepository("app");
  mkdirSync(join(root, "app/src"));
  mkdirSync(join(root, "plain"));
  expect(await refusal(projects.at(join(root, "gone"), []))).toEqual([
    "invalid",
    "ROOT/gone is not a git repository: there is no such directory.",
    "Pass the path of a repository, or run `git init` there.",
  ]);
  expect(await refusal(projects.at(join(root, "plain"), []))).toEqual([
    "invalid",
    "ROOT/plain is not a git repository: it has no .git.",
    "Pass the path of a repository, or run `git init` there.",
  ]);
  expect(await refusal(projects.at(join(root, "app/src"), []))).toEqual([
    "invalid",
    "ROOT/app/src is not a git repository, but inside one.",
    "Use its root: ROOT/app",
  ]);
});

test("[CONFIG-14] a path in the file that is not a repository is reported with its line", async () => {
  makeRepository("app");
  put("app/holdfast.yaml", "projects:\n  a: {path: ./gone}\n  b:\n    path: .\n    tracker: {type: linear}\n");
  expect(await refusal(projects.at(join(root, "app"), []))).toEqual([
    "invalid",
    `2 problems in ROOT/app/holdfast.yaml:
  holdfast.yaml:2:13: ROOT/app/gone is not a git repository: there is no such directory
  holdfast.yaml:5:14: "tracker" needs "repo" (it cannot be detected from the origin remote)`,
    "Fix the file and try again; nothing was changed.",
  ]);
});

test("[CONFIG-14] an id or a prefix that another project has is a conflict", async () => {
  makeRepository("app");
  put("app/holdfast.yaml", "projects:\n  app: {prefix: ap}\n");
  expect(await refusal(projects.at(join(root, "app"), [row("app", "other", "x")]))).toEqual([
    "conflict",
    "Project app is already registered, for ROOT/other.",
    "Give it another id in ROOT/app/holdfast.yaml, or run `holdfast project rm app`.",
  ]);
  expect(await refusal(projects.at(join(root, "app"), [row("other", "other", "ap")]))).toEqual([
    "conflict",
    "Prefix ap of project app is already used by project other.",
    "Set another prefix in ROOT/app/holdfast.yaml.",
  ]);
});

test("[CONFIG-14] holdfast.yml is not passed over in silence", async () => {
  makeRepository("app");
  put("app/holdfast.yml", "");
  expect(await refusal(projects.at(join(root, "app"), []))).toEqual([
    "invalid",
    "ROOT/app/holdfast.yml is ignored.",
    "Rename it to holdfast.yaml.",
  ]);
});

test("[CONFIG-15] settings follow the files, and a wrong one names its line", async () => {
  makeRepository("app");
  put(
    "app/holdfast.yaml",
    "projects:\n  app: {agent: one, defaultBranch: dev}\nagents:\n  one: {chat: {command: [one]}}\n",
  );
  const [app] = await projects.at(join(root, "app"), []);
  if (app === undefined) throw new Error("no project");
  expect(await projects.settings(app)).toMatchObject({ agent: "one", defaultBranch: "dev", prefix: "app" });
  expect(told).toEqual(["app: one of the project"]);
  put("config.yaml", "defaults: {kind: chat}\n");
  expect(await projects.settings(app)).toMatchObject({ kind: "chat" });
  put("config.yaml", "defaults: {kind: chats}\n");
  expect((await refusal(projects.settings(app)))[1]).toBe(
    '1 problem in ROOT/config.yaml:\n  config.yaml:1:18: "kind" must be terminal or chat, not the text "chats" (did you mean "chat"?)',
  );
  expect(await projects.agents([app])).toMatchObject({ user: null, projects: { app: [{ id: "one" }] } });
});

test("[CONFIG-15] a file that no longer exists or lacks the project is an error", async () => {
  makeRepository("app");
  put("app/holdfast.yaml", "projects:\n  app: {}\n");
  const [app] = await projects.at(join(root, "app"), []);
  if (app === undefined) throw new Error("no project");
  put("app/holdfast.yaml", "projects:\n  renamed: {}\n");
  expect(await refusal(projects.settings(app))).toEqual([
    "invalid",
    "Project app is no longer in ROOT/app/holdfast.yaml.",
    "It has renamed. Run `holdfast project add ROOT/app` to register them.",
  ]);
  unlinkSync(join(root, "app/holdfast.yaml"));
  expect(await refusal(projects.settings(app))).toEqual([
    "invalid",
    "ROOT/app/holdfast.yaml, which describes project app, no longer exists.",
    "Restore it, or run `holdfast project rm app` and `holdfast project add ROOT/app`.",
  ]);
});

test("[CONFIG-15] an undetectable default branch must be set", async () => {
  makeRepository("app");
  put("app/.git/HEAD", "1111111111111111111111111111111111111111\n");
  expect(await refusal(projects.settings(row("app", "app", "app")))).toEqual([
    "invalid",
    "Cannot detect the default branch of ROOT/app.",
    "Set projects.app.defaultBranch in ROOT/app/holdfast.yaml.",
  ]);
});

test("[TRUST-7] S1c: a file describes no repository outside its directory, not by a committed link either", async () => {
  makeRepository("good");
  makeRepository("evil");
  symlinkSync("../good", join(root, "evil/inside"));
  for (const path of ["../good", "inside", join(root, "good")]) {
    put("evil/holdfast.yaml", `projects: {good: {path: ${path}, postCreate: [evil]}}\n`);
    expect((await refusal(projects.at(join(root, "evil"), [])))[1]).toContain("is outside the directory of this file");
  }
  // Registered by a version that allowed it: the file does not count, and the repository itself can be added.
  const taken = row("good", "good", "go", join(root, "evil/holdfast.yaml"));
  put("evil/holdfast.yaml", "projects: {good: {path: ../good, postCreate: [evil], kind: chat}}\n");
  expect(await projects.settings(taken)).toMatchObject({
    postCreate: [],
    kind: "terminal",
    trust: { state: "none", notices: [expect.stringContaining("is outside its directory")] },
  });
  expect(await projects.at(join(root, "good"), [taken])).toMatchObject([{ id: "good", configFile: null }]);
});

test("[TRUST-7] S1c: a registered project stays with its file unless it is moved", async () => {
  makeRepository("all/good");
  const own = join(root, "all/good/holdfast.yaml");
  const parent = join(root, "all/holdfast.yaml");
  put("all/holdfast.yaml", "projects: {good: {path: good, postCreate: [evil]}}\n");
  const taken = (file: string | null) => [row("good", "all/good", "go", file)];
  const add = (at: string, file: string | null, move = false) => projects.at(join(root, at), taken(file), { move });
  expect(await refusal(add("all", null))).toEqual([
    "conflict",
    "Project good is registered without a file; ROOT/all/holdfast.yaml would take it over.",
    "To move it, run `holdfast project add` with --move.",
  ]);
  put("all/good/holdfast.yaml", "defaults: {kind: chat}\n");
  expect((await refusal(add("all", own)))[1]).toBe(
    "Project good is described by ROOT/all/good/holdfast.yaml, not by ROOT/all/holdfast.yaml.",
  );
  expect((await refusal(add("all/good", parent)))[1]).toContain("is described by ROOT/all/holdfast.yaml");
  expect(await add("all/good", parent, true)).toMatchObject([{ id: "good", configFile: own }]);
  expect(await add("all", own, true)).toMatchObject([{ id: "good", configFile: parent }]);
  // A repository's own first file is no takeover, nor is its end.
  expect(await add("all/good", null)).toMatchObject([{ configFile: own }]);
  unlinkSync(own);
  expect(await add("all/good", own)).toMatchObject([{ configFile: null }]);
});
