import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { identify } from "../base/pid.ts";
import { fullDoctor } from "./doctor.ts";

test("[API-50] a doctor that nobody waits for any more ends, with what it has asked", async () => {
  const directory = mkdtempSync(join(tmpdir(), "hf-doctor-"));
  try {
    const file = join(directory, "pids");
    const gone = new AbortController();
    const hangs = `sleep 600 & echo $$ $! > ${file}.new; mv ${file}.new ${file}; wait`;
    const answer = fullDoctor(["sh", "-c", hangs], gone.signal);
    await expect.poll(() => existsSync(file), { timeout: 10_000 }).toBe(true);
    const pids = readFileSync(file, "utf8").trim().split(" ").map(Number);
    expect(pids.map((pid) => identify(pid) === null)).toEqual([false, false]);
    gone.abort();
    await expect(answer).rejects.toThrow("The doctor gave no answer.");
    await expect.poll(() => pids.map((pid) => identify(pid)), { timeout: 10_000 }).toEqual([null, null]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
