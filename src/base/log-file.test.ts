import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openLog } from "./log-file.ts";

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "log-"))));
afterEach(() => rmSync(directory, { recursive: true }));

test("[LOG-1] the log is kept to a bounded size in a few files, the newest lines first", () => {
  const log = openLog({ file: join(directory, "d.log"), maxBytes: 2_000 });
  for (let number = 0; number < 200; number++) log.info(`entry ${number}`);
  log.close();
  expect(readdirSync(directory).sort()).toEqual(["d.log", "d.log.1", "d.log.2", "d.log.3"]);
  expect(readFileSync(join(directory, "d.log"), "utf8")).toContain("entry 199");
  for (const name of readdirSync(directory)) {
    expect(readFileSync(join(directory, name)).length).toBeLessThanOrEqual(2_000);
  }
});

test("[LOG-2] secrets are taken out: by key, by shape, and by exact text", () => {
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

test("[LOG-3] an error is written with its cause, and one entry cannot fill the log", () => {
  const log = openLog({ file: join(directory, "d.log") });
  log.error("broke", { error: new Error("outer", { cause: new Error("inner") }) });
  log.info("x".repeat(1_000_000));
  log.close();
  const [first, second] = readFileSync(join(directory, "d.log"), "utf8").split("\n");
  expect(first).toMatch(/outer.*inner/);
  expect(second!.length).toBeLessThan(20_000);
});
