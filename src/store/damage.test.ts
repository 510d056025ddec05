import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { asPromptId, asSessionId } from "../contract/ids.ts";
import { acquireLock } from "../base/home-lock.ts";
import { checkDatabase } from "./check.ts";
import { admitted, created, errorOf, eventOf, intent, makeHome, output, renamed, type Home } from "./store.fixture.ts";

const one = asSessionId("ma-1");
const two = asSessionId("ma-2");

it("[STORE-24] shows a damaged event as a warning in its place, and verify names it", async () => {
  const home = await homeWithData();
  // One letter in the file itself, as a failing disk does it.
  const bytes = readFileSync(home.options.path);
  bytes[bytes.indexOf("precious")] = 0x50;
  writeFileSync(home.options.path, bytes);
  const store = home.open();
  const events = store.events(one, 0, 10);
  expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  const shown = {
    seq: 2,
    at: expect.any(Number),
    type: "notice",
    level: "warn",
    text: "Event 2 (workspace.output) is damaged in the database and cannot be shown.",
  };
  expect(events[1]).toEqual(shown);
  expect(eventOf(store.log(0, 10).find(({ session, seq }) => session === one && seq === 2)!)).toEqual(shown);
  expect(store.verify()).toEqual(["Session ma-1: event 2 (workspace.output) is damaged."]);
  expect((await store.commit(one, () => [output("goes on")])).seq).toBe(6);
});

it.each(["at = at + 1", "type = 'notice'", "crc = crc + 1", "body = '{}'", "body = 'no json'"])(
  "[STORE-24] notices a changed column (%s)",
  async (change) => {
    const home = await homeWithData();
    damage(home, `UPDATE events SET ${change} WHERE session = 'ma-1' AND seq = 2`);
    const store = home.open();
    expect(store.events(one, 1, 1)).toMatchObject([{ seq: 2, type: "notice", level: "warn" }]);
    expect(store.verify()).toHaveLength(1);
  },
);

it("[STORE-24] never hands out a prompt whose text is damaged", async () => {
  const home = await homeWithData();
  damage(home, `UPDATE events SET body = replace(body, 'do it', 'do no') WHERE type = 'prompt.admitted'`);
  const store = home.open();
  expect(await errorOf(() => store.prompt(one, asPromptId("p")))).toMatchObject({
    code: "storage",
    message: "The text of prompt p of ma-1 is damaged in the database.",
  });
});

it("[STORE-16] folds a damaged state anew from its events", async () => {
  const home = await homeWithData();
  const before = home.open().session(one);
  damage(home, `UPDATE sessions SET state = replace(state, 'killed', 'runing') WHERE id = 'ma-1'`);
  const store = home.open();
  expect(store.session(one)).toEqual(before);
  expect(store.verify()).toEqual(["Session ma-1: its stored state is damaged."]);
  await store.commit(one, () => [output("written again")]);
  expect(store.verify()).toEqual([]);
});

it("[STORE-16] does nothing about a session of which neither state nor events can be believed", async () => {
  const home = await homeWithData();
  damage(home, `UPDATE sessions SET state = 'x' WHERE id = 'ma-1'`);
  damage(home, `UPDATE events SET body = '{}' WHERE session = 'ma-1' AND type = 'session.intent'`);
  const store = home.open();
  expect([store.sessions().map(({ id }) => id), store.wasUsed("ma-1")]).toEqual([[two], true]);
  expect(await errorOf(store.commit(one, () => []))).toMatchObject({
    code: "storage",
    message: "The record of session ma-1 is damaged in the database.",
  });
  expect(await errorOf(store.create(created("ma-1")))).toMatchObject({ code: "conflict" });
  expect(await errorOf(store.purgeDeleted(one))).toMatchObject({ code: "storage" });
  expect(store.verify()).toEqual([
    "Session ma-1: its stored state is damaged.",
    "Session ma-1: event 5 (session.intent) is damaged.",
  ]);
});

it("[STORE-1] verify finds a gap in a sequence and events of nobody", async () => {
  const home = await homeWithData();
  damage(home, `DELETE FROM events WHERE session = 'ma-1' AND seq = 3`);
  damage(home, `DELETE FROM sessions WHERE id = 'ma-2'`);
  expect(home.open().verify()).toEqual([
    "Session ma-1: its state is at event 5, but 4 events are stored, the last being 5.",
    "Events of ma-2, which is not a session.",
  ]);
});

async function homeWithData(): Promise<Home> {
  const home = makeHome();
  const store = home.open();
  await store.create(created("ma-1"), [output("precious"), renamed("x"), admitted("p", "do it"), intent("killed")]);
  await store.create(created("ma-2"));
  store.close();
  return home;
}

function damage(home: Home, sql: string): void {
  const db = new DatabaseSync(home.options.path);
  try {
    expect(db.prepare(sql).run().changes).toBeGreaterThan(0);
  } finally {
    db.close();
  }
}

it("[CLI-60] without a daemon the database is looked at under its lock, without writing: whole, damaged, newer, in use", async () => {
  const home = await homeWithData();
  const { path, backupsDirectory } = home.options;
  const paths = { home: dirname(path), database: path, backups: backupsDirectory, lock: `${path}.lock` };
  const check = (): [string, string] => {
    const { level, message } = checkDatabase(paths);
    return [level, message.replaceAll(path, "DB")];
  };
  expect(check()).toEqual(["ok", "The database is intact."]);
  const lock = acquireLock(paths.lock);
  expect(check()).toEqual(["info", "A daemon is using the database; not checked."]);
  lock?.release();
  damage(home, "UPDATE events SET crc = crc + 1 WHERE session = 'ma-1' AND seq = 2");
  const bytes = readFileSync(path);
  expect(check()).toEqual(["fail", "The database is damaged: Session ma-1: event 2 (workspace.output) is damaged."]);
  expect(readFileSync(path).equals(bytes)).toBe(true);
  const newer = Buffer.from(bytes);
  newer.writeUInt32BE(99, 60);
  writeFileSync(path, newer);
  expect(check()[1]).toMatch(/^The database DB was written by a newer Holdfast/);
  writeFileSync(path, bytes.subarray(0, 5000));
  expect(checkDatabase(paths)).toMatchObject({ level: "fail", fix: expect.stringContaining("to a safe place first") });
});

it("[HOME-3] a database of a home in another directory names what start needs to know", async () => {
  const home = await homeWithData();
  const { path, backupsDirectory } = home.options;
  const paths = { home: dirname(path), database: path, backups: backupsDirectory, lock: `${path}.lock` };
  const identity = JSON.stringify({ id: "i", path: "/elsewhere", worktrees: "/elsewhere/worktrees" });
  damage(home, `INSERT INTO settings (key, value) VALUES ('home.identity', '${identity}')`);
  expect(checkDatabase(paths)).toMatchObject({
    check: "home",
    level: "fail",
    message: expect.stringContaining("/elsewhere") as string,
    fix: expect.stringMatching(/holdfast start --moved.*holdfast start --copied/) as string,
  });
});
