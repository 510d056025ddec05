import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLog } from "./log-file.ts";

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "log-"))));
afterEach(() => rmSync(directory, { recursive: true }));

test("[BASE-12] the log is kept to a bounded size in a few files, the newest lines first", () => {
  const log = openLog({ file: join(directory, "d.log"), maxBytes: 2_000 });
  for (let number = 0; number < 200; number++) log.info(`entry ${number}`);
  log.close();
  expect(readdirSync(directory).sort()).toEqual(["d.log", "d.log.1", "d.log.2", "d.log.3"]);
  expect(readFileSync(join(directory, "d.log"), "utf8")).toContain("entry 199");
  for (const name of readdirSync(directory)) {
    expect(readFileSync(join(directory, name)).length).toBeLessThanOrEqual(2_000);
  }
});

test("[BASE-13] secrets are taken out: by key, by shape, and by exact text", () => {
  const log = openLog({ file: join(directory, "d.log") });
  log.hide("correct-horse-battery");
  log.info("a request", {
    authorization: "x-very-secret",
    nested: { apiKey: "k-very-secret" },
    line: "used ghp_abcdefghijklmnopqrstuvwxyz and correct-horse-battery",
  });
  log.close();
  const text = readFileSync(join(directory, "d.log"), "utf8");
  expect(text).not.toMatch(/very-secret|ghp_|correct-horse/);
  expect(text.match(/\[redacted\]/g)).toHaveLength(4);
});

test("[BASE-14] an error is written with its cause, and one entry cannot fill the log", () => {
  const log = openLog({ file: join(directory, "d.log") });
  log.error("broke", { error: new Error("outer", { cause: new Error("inner") }) });
  log.info("x".repeat(1_000_000));
  log.close();
  const [first, second] = readFileSync(join(directory, "d.log"), "utf8").split("\n");
  expect(first).toMatch(/outer.*inner/);
  expect(second!.length).toBeLessThan(20_000);
});

test("[BASE-15] a log that cannot be rotated is written on, closes nothing twice, and rotates once it can", () => {
  const file = join(directory, "d.log");
  const log = openLog({ file, maxBytes: 2_000 });
  // What the next file would be made as is taken, as if there were no inode or descriptor left.
  mkdirSync(`${file}.next`);
  for (let number = 0; number < 15; number++) log.info(`entry ${number} ${"x".repeat(100)}`);
  expect(readdirSync(directory).sort()).toEqual(["d.log", "d.log.next"]);
  expect(readFileSync(file, "utf8")).toContain("entry 14");
  // Entries that would make it twice as long as it may be take the place of the oldest.
  for (let number = 15; number < 100; number++) log.info(`entry ${number} ${"x".repeat(100)}`);
  expect(readFileSync(file, "utf8")).toContain("entry 99");
  expect(readFileSync(file).length).toBeLessThanOrEqual(4_000);
  rmdirSync(`${file}.next`);
  for (let number = 100; number < 130; number++) log.info(`entry ${number} ${"x".repeat(100)}`);
  expect(readFileSync(file).length).toBeLessThanOrEqual(2_000);
  expect(readFileSync(`${file}.1`, "utf8")).toContain("entry 1");
  log.close();
});

test("[BASE-15] a log whose directory was removed is made again; an entry after the close reaches no other file", () => {
  const file = join(directory, "logs", "d.log");
  const log = openLog({ file });
  log.info("first");
  rmSync(join(directory, "logs"), { recursive: true });
  log.info("second", { number: 1n });
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ message: "second", level: "info" });
  log.close();
  const other = openSync(join(directory, "other"), "w");
  log.info("third");
  log.close();
  closeSync(other);
  expect(readFileSync(join(directory, "other"), "utf8")).toBe("");
});

test("[BASE-16] a field named as a part of the entry does not replace that part", () => {
  const log = openLog({ file: join(directory, "d.log") });
  log.warn("the agent did not delete its conversation", { message: "kaboom", level: "debug" });
  log.close();
  expect(JSON.parse(readFileSync(join(directory, "d.log"), "utf8"))).toMatchObject({
    message: "the agent did not delete its conversation",
    level: "warn",
    fields: { message: "kaboom", level: "debug" },
  });
});
