import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { acquireLock } from "./home-lock.ts";

/** Asks for the lock, is refused, and lets go a moment later: what two that ask at the same time do to each other. */
const asks = `const { DatabaseSync } = require("node:sqlite");
  const database = new DatabaseSync(process.argv[1]);
  database.exec("BEGIN; SELECT 1 FROM sqlite_schema");
  require("node:fs").writeSync(1, "x");
  setTimeout(() => database.close(), 30);`;

test("[BASE-7] two simultaneous attempts do not both fail", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hf-lock-"));
  const path = join(directory, "lock.db");
  acquireLock(path)!.release();
  const other = spawn(process.execPath, ["-e", asks, path], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const ended = once(other, "close");
    await once(other.stdout, "data");
    const lock = acquireLock(path, 60_000);
    expect(lock).not.toBeNull();
    lock!.release();
    await ended;
  } finally {
    rmSync(directory, { recursive: true });
  }
});
