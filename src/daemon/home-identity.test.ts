import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { resolvePaths, type Paths } from "../base/paths.ts";
import type { Store } from "../ports/store.ts";
import { asLaunchId } from "../contract/ids.ts";
import { created } from "../store/store.fixture.ts";
import { openStore } from "../store/open.ts";
import { settleHome, type HomeChoice, type SettledHome } from "./home-identity.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };

function world() {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-home-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const at = (...names: string[]): string => join(directory, ...names);
  const settle = (home: string, answer: HomeChoice = null): Promise<SettledHome> =>
    within(resolvePaths({ HOME: directory, HOLDFAST_HOME: home }), (store, paths) =>
      settleHome(store, paths, { answer, log }),
    );
  return { directory, at, settle };
}

async function within<T>(paths: Paths, work: (store: Store, paths: Paths) => Promise<T>): Promise<T> {
  mkdirSync(paths.home, { recursive: true });
  const store = openStore({
    path: paths.database,
    backupsDirectory: paths.backups,
    reservePath: null,
    now: Date.now,
    log,
  });
  try {
    return await work(store, paths);
  } finally {
    store.close();
  }
}

const pathsOf = (home: string): Paths => resolvePaths({ HOME: "/", HOLDFAST_HOME: home });

/** A session with a run on record, whose worktree is in that home. */
function addSession(home: string, id = "app-1"): Promise<void> {
  return within(pathsOf(home), async (store, paths) => {
    const workspacePath = join(paths.worktrees, "app", id);
    mkdirSync(workspacePath, { recursive: true });
    writeFileSync(join(workspacePath, "file"), id);
    const launch = asLaunchId("l-1");
    await store.create({ ...created(id), workspacePath }, [
      { type: "workspace.ready", path: workspacePath, branch: id, branchCreated: true, base: "main" },
      { type: "launch.started", launch, how: "fresh", attempt: 1 },
      { type: "launch.up", launch, agent: null },
      { type: "conversation.pinned", agentSessionId: "conversation" },
    ]);
  });
}

test("[HOME-3] a home gets an id at its first start and keeps it; in another directory it asks, and a copy gets its own", async () => {
  const { at, settle } = world();
  const first = await settle(at("h"));
  expect(await settle(at("h"))).toEqual(first);
  // An answer without a question changes nothing.
  expect(await settle(at("h"), "copied")).toEqual(first);
  await addSession(at("h"));
  copyHome(at("h"), at("h2"));
  await expect(settle(at("h2"))).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining(`last started in ${at("h")}`) as string,
    hint: expect.stringMatching(/holdfast start --moved[\s\S]*holdfast start --copied/) as string,
  });
  const copy = await settle(at("h2"), "copied");
  expect(copy.id).not.toBe(first.id);
  expect(await settle(at("h2"))).toMatchObject({ id: copy.id });
  expect(pathsOf(at("h2")).tmuxSocket).not.toBe(pathsOf(at("h")).tmuxSocket);
  await within(pathsOf(at("h2")), async (store) => {
    expect(store.sessions()).toMatchObject([
      {
        id: "app-1",
        intent: { want: "killed", by: "copy" },
        run: { run: "none" },
        workspace: { at: "gone" },
        agentSessionId: null,
      },
    ]);
  });
  expect(readFileSync(at("h/worktrees/app/app-1/file"), "utf8")).toBe("app-1");
  expect(existsSync(at("h2/worktrees"))).toBe(false);
});

test("[HOME-7] a home whose database is older than its id keeps the id that its agents carry", async () => {
  const { at, settle } = world();
  const { id } = await settle(at("h"));
  for (const name of ["holdfast.db", "holdfast.db-wal", "holdfast.db-shm"]) rmSync(at("h", name), { force: true });
  expect(await settle(at("h"))).toMatchObject({ id });
});

test("[HOME-3] a copy without its database is asked about too: its files name the original's agents", async () => {
  const { at, settle } = world();
  const { id } = await settle(at("h"));
  copyHome(at("h"), at("h2"));
  mkdirSync(at("h2/trash"));
  for (const name of ["holdfast.db", "holdfast.db-wal", "holdfast.db-shm"]) rmSync(at("h2", name), { force: true });
  await expect(settle(at("h2"))).rejects.toMatchObject({ message: expect.stringContaining(at("h")) as string });
  expect((await settle(at("h2"), "copied")).id).not.toBe(id);
  expect(pathsOf(at("h2")).tmuxSocket).not.toBe(pathsOf(at("h")).tmuxSocket);
  expect(existsSync(at("h2/trash"))).toBe(false);
  // One that moved is the same home, in its new place too.
  renameSync(at("h"), at("h3"));
  await settle(at("h3"), "moved");
  for (const name of ["holdfast.db", "holdfast.db-wal", "holdfast.db-shm"]) rmSync(at("h3", name), { force: true });
  expect(await settle(at("h3"))).toMatchObject({ id });
});

test("[HOME-3] a copy made by a build that kept no id is known by where its worktrees are", async () => {
  const { at, settle } = world();
  await addSession(at("h"));
  copyHome(at("h"), at("h2"));
  await expect(settle(at("h2"))).rejects.toMatchObject({ message: expect.stringContaining(at("h")) as string });
  // In its own place it is asked for nothing.
  expect((await settle(at("h"))).id).not.toBe("");
  expect((await settle(at("h2"), "copied")).notes.join()).toContain(at("h"));
});

test("[HOME-3] a copy that would share the original's worktrees is refused", async () => {
  const { directory, at } = world();
  const env = (state: string): Paths => resolvePaths({ HOME: directory, XDG_STATE_HOME: at(state) });
  const settle = (paths: Paths, answer: HomeChoice): Promise<SettledHome> =>
    within(paths, (store) => settleHome(store, paths, { answer, log }));
  mkdirSync(env("state").worktrees, { recursive: true });
  await settle(env("state"), null);
  copyHome(env("state").home, env("state2").home);
  await expect(settle(env("state2"), "copied")).rejects.toMatchObject({
    message: expect.stringContaining("share its worktrees") as string,
  });
  expect(existsSync(env("state").worktrees)).toBe(true);
});

test("[HOME-4] a moved home keeps id and tmux server and links its old path; a path that is taken is not a move", async () => {
  const { at, settle } = world();
  const { id } = await settle(at("h"));
  const socket = pathsOf(at("h")).tmuxSocket;
  renameSync(at("h"), at("h2"));
  mkdirSync(at("h"));
  await expect(settle(at("h2"), "moved")).rejects.toMatchObject({
    message: expect.stringContaining("still exists") as string,
  });
  rmSync(at("h"), { recursive: true });
  expect(await settle(at("h2"), "moved")).toMatchObject({ id, notes: [expect.stringContaining("Linked")] });
  expect(lstatSync(at("h")).isSymbolicLink()).toBe(true);
  for (const home of [at("h"), at("h2")]) {
    expect(await settle(home)).toMatchObject({ id, notes: [] });
    expect(pathsOf(home).tmuxSocket).toBe(socket);
  }
});

test("[HOME-4] a home behind a link is the same home, and one of an earlier build that moved finds its tmux server", async () => {
  const { at, settle } = world();
  await addSession(at("h"));
  const socket = pathsOf(at("h")).tmuxSocket;
  renameSync(at("h"), at("h2"));
  await expect(settle(at("h2"))).rejects.toMatchObject({ code: "conflict" });
  const { id } = await settle(at("h2"), "moved");
  symlinkSync(at("h2"), at("link"));
  expect(await settle(at("link"))).toMatchObject({ id });
  expect(pathsOf(at("link")).tmuxSocket).toBe(socket);
});

function copyHome(from: string, to: string): void {
  mkdirSync(join(to, ".."), { recursive: true });
  cpSync(from, to, { recursive: true });
}
