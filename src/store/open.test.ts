import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { asSessionId } from "../contract/ids.ts";
import { created, errorOf, makeHome, output, type Home } from "./store.fixture.ts";
import { migrations } from "./migrations/index.ts";
import { requireSqliteVersion, Sqlite } from "./sqlite.ts";

const one = asSessionId("ma-1");

describe("what must not be touched", () => {
  it("[STORE-11] refuses a newer schema without changing a byte or leaving a file", async () => {
    const home = await homeWithData();
    sql(home.options.path, "PRAGMA user_version = 7");
    const before = snapshot(home);
    expect(await errorOf(() => home.open())).toMatchObject({
      code: "storage",
      message:
        `The database ${home.options.path} was written by a newer Holdfast ` +
        `(its schema is 7, this one knows ${migrations.length}). Nothing was written to it.`,
      hint: expect.stringContaining("Install the newer Holdfast"),
    });
    expect(snapshot(home)).toEqual(before);
  });

  it("[STORE-11] sees a newer schema that is still in the log only", async () => {
    const home = await homeWithData();
    const writer = new DatabaseSync(home.options.path);
    try {
      writer.exec("PRAGMA user_version = 7");
      const before = hash(home.options.path);
      expect((await errorOf(() => home.open())).message).toContain("was written by a newer Holdfast");
      expect(hash(home.options.path)).toBe(before);
    } finally {
      writer.close();
    }
  });

  it("[STORE-12] refuses another program's database without changing a byte", async () => {
    const home = makeHome();
    sql(home.options.path, "CREATE TABLE notes (text)");
    const before = snapshot(home);
    expect(await errorOf(() => home.open())).toMatchObject({
      code: "storage",
      message: `${home.options.path} is another program's database. Nothing was written to it.`,
    });
    sql(home.options.path, "PRAGMA application_id = 42; PRAGMA user_version = 1");
    const marked = snapshot(home);
    expect((await errorOf(() => home.open())).message).toContain("is another program's database");
    expect(snapshot(home)).toEqual(marked);
    expect(marked).not.toEqual(before);
  });

  it("[STORE-12] refuses a file that is no database, and a directory", async () => {
    const home = makeHome();
    writeFileSync(home.options.path, "notes of a person, not a database\n".repeat(50));
    const before = snapshot(home);
    expect(await errorOf(() => home.open())).toMatchObject({
      code: "storage",
      message: expect.stringContaining(`${home.options.path} is not a Holdfast database`),
    });
    expect(snapshot(home)).toEqual(before);
    const path = join(home.directory, "folder");
    mkdirSync(path);
    expect((await errorOf(() => home.open({ path }))).message).toBe(
      `${path} is not a file. Nothing was written to it.`,
    );
  });

  it("[STORE-13] says of a damaged database which file, which backup and what to do, and changes nothing", async () => {
    const home = await homeWithData();
    const { path, backupsDirectory } = home.options;
    const bytes = readFileSync(path);
    // The root page of the schema: every query needs it.
    bytes.fill(0xff, 100, 4096);
    writeFileSync(path, bytes);
    const before = snapshot(home);
    const error = await errorOf(() => home.open());
    expect(error).toMatchObject({ code: "storage" });
    expect(error.message).toMatch(/^The database .*holdfast\.db is damaged .* Nothing was deleted or overwritten\.$/);
    expect(error.hint).toContain(`There is no backup in ${backupsDirectory}`);
    mkdirSync(backupsDirectory);
    writeFileSync(join(backupsDirectory, "holdfast-v2-2026-01-01T00-00-00-000Z.db"), "");
    writeFileSync(join(backupsDirectory, "holdfast-v1-2026-02-01T00-00-00-000Z.db"), "");
    expect((await errorOf(() => home.open())).hint).toContain(
      "newest backup is " + join(backupsDirectory, "holdfast-v1-2026-02"),
    );
    expect(hash(path)).toBe(before["holdfast.db"]);
  });

  it("[STORE-14] refuses to start anew beside the log of a database that is gone", async () => {
    const home = await homeWithData();
    const { path } = home.options;
    const writer = new DatabaseSync(path);
    writer.exec("UPDATE sessions SET project = 'other'");
    renameSync(path, `${path}.moved`);
    const before = snapshot(home);
    expect(await errorOf(() => home.open())).toMatchObject({
      code: "storage",
      message: `${path} is missing, but its log ${path}-wal exists.`,
    });
    expect(snapshot(home)).toEqual(before);
    renameSync(`${path}.moved`, path);
    writer.close();
  });

  it("[STORE-23] refuses a SQLite that can damage the database", async () => {
    for (const version of ["3.51.2", "3.50.9", "2.99.99"]) {
      expect(await errorOf(() => requireSqliteVersion(version))).toMatchObject({
        code: "storage",
        message: `This Node has SQLite ${version}; Holdfast needs 3.51.3 or newer.`,
      });
    }
    for (const version of ["3.51.3", "3.53.0", "4.0.0"]) requireSqliteVersion(version);
  });
});

describe("migrations", () => {
  const second = "CREATE TABLE extra (a TEXT) STRICT";

  it("[STORE-15] takes a backup that can be opened before it changes a schema that holds data", async () => {
    const home = await homeWithData();
    const store = home.open({ migrations: [...migrations, second] });
    expect(store.session(one)?.seq).toBe(2);
    store.close();
    expect(query(home.options.path, "PRAGMA user_version")).toBe(migrations.length + 1);
    const [name, ...others] = readdirSync(home.options.backupsDirectory);
    expect([name, others]).toEqual([
      expect.stringMatching(new RegExp(`^holdfast-v${migrations.length}-2023-11-14T22-13-20-\\d+Z\\.db$`)),
      [],
    ]);
    const copy = home.open({ path: join(home.options.backupsDirectory, name!) });
    expect([copy.session(one)?.seq, copy.verify()]).toEqual([2, []]);
  });

  it("[STORE-15] takes no backup of nothing, and none when there is nothing to change", async () => {
    const home = await homeWithData();
    home.open().close();
    expect(readdirSync(home.directory)).not.toContain("backups");
  });

  it("[STORE-15] leaves the old schema when a step fails, with the steps before it done", async () => {
    const home = await homeWithData();
    const broken = [...migrations, second, "CREATE TABLE late (a); CREATE TABLE sessions (a)"];
    expect(await errorOf(() => home.open({ migrations: broken }))).toMatchObject({
      code: "storage",
      message: expect.stringContaining("table sessions already exists"),
    });
    expect(query(home.options.path, "PRAGMA user_version")).toBe(migrations.length + 1);
    expect(query(home.options.path, "SELECT count(*) FROM sqlite_schema WHERE name = 'late'")).toBe(0);
    expect(home.open({ migrations: [...migrations, second] }).session(one)?.seq).toBe(2);
  });
});

describe("a new database", () => {
  it("[STORE-20] is flushed to disk at every commit", () => {
    const sqlite = new Sqlite(makeHome().options.path);
    sqlite.configure();
    const settings = ["journal_mode", "synchronous", "foreign_keys", "busy_timeout"].map((name) => sqlite.pragma(name));
    sqlite.close();
    const full = 2;
    expect(settings).toEqual(["wal", full, 1, 5000]);
  });

  it("[STORE-20] is private and marked as ours", async () => {
    const home = await homeWithData();
    const { path } = home.options;
    home.open();
    for (const file of [path, `${path}-wal`, `${path}-shm`]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(query(path, "PRAGMA application_id")).toBe(0x486f6c64);
  });

  it.runIf(process.platform === "linux")(
    "[STORE-22] keeps its locks: nothing but SQLite opens the file (needs Linux)",
    async () => {
      const home = await homeWithData();
      const store = home.open({ reservePath: join(home.directory, "reserve") });
      await store.probe();
      store.verify();
      await errorOf(() => home.open({ migrations: [] }));
      const inode = statSync(home.options.path).ino;
      const held = readFileSync("/proc/locks", "utf8")
        .split("\n")
        .filter((line) => line.includes(`:${inode} `));
      expect(held).not.toEqual([]);
    },
  );
});

async function homeWithData(): Promise<Home> {
  const home = makeHome();
  const store = home.open();
  await store.create(created("ma-1"), [output("a")]);
  store.close();
  return home;
}

function sql(path: string, text: string): void {
  const db = new DatabaseSync(path);
  db.exec(text);
  db.close();
}

function query(path: string, text: string): unknown {
  const db = new DatabaseSync(path);
  const row = db.prepare(text).get();
  db.close();
  return Object.values(row ?? {})[0];
}

function hash(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** Every file of the home with its content's hash. */
function snapshot(home: Home): Record<string, string> {
  const files = readdirSync(home.directory).filter((name) => statSync(join(home.directory, name)).isFile());
  return Object.fromEntries(files.map((name) => [name, hash(join(home.directory, name))]));
}
