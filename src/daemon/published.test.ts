import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { until } from "../../test/harness/until.ts";
import { keepPublished } from "./published.ts";

let directory = "";
beforeEach(() => {
  vi.useFakeTimers();
  directory = mkdtempSync(join(tmpdir(), "hf-published-"));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(directory, { recursive: true });
});

test("[DAEMON-19] while the disk refuses, tries get rare and one warning is logged; after a success the next failure is logged again", async () => {
  const warnings: string[] = [];
  const daemonFile = join(directory, "daemon.json");
  const socket = join(directory, "s");
  writeFileSync(daemonFile, "text");
  let tries = 0;
  let refuses = true;
  const listen = (): Promise<void> => {
    tries += 1;
    if (refuses) return Promise.reject(new Error("EROFS"));
    writeFileSync(socket, "");
    return Promise.resolve();
  };
  const close = keepPublished({
    daemonFile,
    text: "text",
    sockets: [{ path: socket, listen }],
    log: { warn: (message) => void warnings.push(message) },
  });
  await vi.advanceTimersByTimeAsync(60 * 60_000);
  expect(warnings).toHaveLength(1);
  expect(tries).toBeGreaterThan(30);
  expect(tries).toBeLessThan(80);
  refuses = false;
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(warnings).toHaveLength(2);
  refuses = true;
  rmSync(socket);
  await vi.advanceTimersByTimeAsync(2 * 60_000);
  expect(warnings).toHaveLength(3);
  close();
});

test("[DAEMON-18] a directory that is removed between the return of the socket and its watch is noticed", async () => {
  vi.useRealTimers();
  const daemonFile = join(directory, "daemon.json");
  const run = join(directory, "run");
  const socket = join(run, "s");
  writeFileSync(daemonFile, "text");
  mkdirSync(run);
  writeFileSync(socket, "");
  let listened = 0;
  const listen = (): Promise<void> => {
    writeFileSync(socket, "");
    listened += 1;
    if (listened === 1) rmSync(run, { recursive: true });
    return Promise.resolve();
  };
  const close = keepPublished({
    daemonFile,
    text: "text",
    sockets: [{ path: socket, listen }],
    log: { warn: () => undefined },
  });
  rmSync(run, { recursive: true });
  await until("the socket to be there again", () => listened > 0 && existsSync(socket));
  // It is watched as well.
  rmSync(socket);
  await until("the socket to be there once more", () => existsSync(socket));
  close();
});
