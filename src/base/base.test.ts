import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { cacheHome } from "./code-cache.ts";
import { bounded, Slots, Owner } from "./async.ts";
import { digestOf } from "./digest.ts";
import { readJson, writeDurable } from "./durable-file.ts";
import { LineSplitter, type Line } from "./lines.ts";
import { acquireLock } from "./home-lock.ts";
import { maxSocketBytes, resolvePaths } from "./paths.ts";
import { bootId, identify, isAlive, parseStat, readStat, signalIdentity } from "./pid.ts";

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "base-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test("[BASE-1] a process is distinguished from another one with its pid, and a zombie is dead", async () => {
  const child = spawn("sleep", ["60"]);
  const identity = identify(child.pid!)!;
  expect(isAlive(identity)).toBe(true);
  expect(isAlive({ ...identity, startTime: "1" })).toBe(false);
  expect(isAlive({ ...identity, bootId: "another boot" })).toBe(false);
  expect(signalIdentity({ ...identity, startTime: "1" }, "SIGKILL")).toBe(false);
  expect(isAlive(identity)).toBe(true);
  expect(signalIdentity(identity, "SIGKILL")).toBe(true);
  await once(child, "exit");
  expect(isAlive(identity)).toBe(false);
  expect(parseStat(1, "1 (a b) ) Z 0 1 1 0 -1 4194304 1 2 3 4 5 6 7 8 9 10 11 12 99 13")).toMatchObject({
    state: "Z",
    startTime: "99",
  });
});

test("[BASE-1] the start time is field 22 of the stat, whatever the command is called", () => {
  const own = readStat(process.pid)!;
  const text = readFileSync("/proc/self/stat", "latin1");
  expect(own.startTime).toBe(text.slice(text.lastIndexOf(")") + 2).split(" ")[19]);
  expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
});

test("[BASE-3] a durable file is whole or as it was, private, and leaves no temporary file", () => {
  const path = join(directory, "x.json");
  writeDurable(path, '{"a":1}');
  writeDurable(path, '{"a":2}');
  expect(readJson(path)).toEqual({ is: "known", value: { a: 2 } });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  // What cannot take the file's place leaves nothing either.
  mkdirSync(join(directory, "taken"));
  expect(() => writeDurable(join(directory, "taken"), "x")).toThrow("EISDIR");
  expect(readdirSync(directory)).toEqual(["taken", "x.json"]);
});

test("[BASE-4] a half-written file is damaged, not absent and not a crash", () => {
  const path = join(directory, "x.json");
  expect(readJson(path)).toEqual({ is: "absent" });
  writeFileSync(path, '{"a":');
  expect(readJson(path)).toMatchObject({ is: "damaged" });
});

function split(chunks: Buffer[], maxBytes: number): Line[] {
  const splitter = new LineSplitter(maxBytes);
  return chunks.flatMap((chunk) => [...splitter.push(chunk)]);
}

test("[BASE-5] an oversized line is reported with its length and harms no other line", () => {
  const chunks = ["ab\n", "x".repeat(50), "x".repeat(50), "\ncd\n", "ef"].map((text) => Buffer.from(text));
  expect(split(chunks, 10)).toEqual([
    { line: "complete", text: "ab", end: 3 },
    { line: "oversized", bytes: 100, end: 104 },
    { line: "complete", text: "cd", end: 107 },
  ]);
  const inOne = Buffer.from(`ab\n${"x".repeat(11)}\n${"y".repeat(10)}\n`);
  expect(split([inOne], 10)).toEqual([
    { line: "complete", text: "ab", end: 3 },
    { line: "oversized", bytes: 11, end: 15 },
    { line: "complete", text: "y".repeat(10), end: 26 },
  ]);
});

test("[BASE-5] however the bytes arrive, the lines and their offsets are the same", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 30 })), fc.array(fc.nat(40)), (lines, cuts) => {
      const whole = Buffer.from(lines.map((line) => `${line.replaceAll("\n", " ")}\n`).join(""));
      const chunks: Buffer[] = [];
      let at = 0;
      for (const cut of cuts) {
        chunks.push(whole.subarray(at, at + cut));
        at = Math.min(at + cut, whole.length);
      }
      chunks.push(whole.subarray(at));
      expect(split(chunks, 24)).toEqual(split([whole], 24));
    }),
  );
});

test("[BASE-6] an owner closes everything it owns, last opened first, also when one fails", async () => {
  const owner = new Owner();
  const closed: string[] = [];
  owner.owns("a", () => void closed.push("a"));
  owner.owns("b", () => {
    throw new Error("b broke");
  });
  owner.owns("c", async () => void closed.push("c"));
  await expect(owner.close()).rejects.toThrow("failed to close everything");
  expect(closed).toEqual(["c", "a"]);
  expect(() => owner.owns("d", () => undefined)).toThrow("after its owner closed");
});

test("[BASE-7] a lock has one holder, and the next one gets it when it is released", () => {
  const path = join(directory, "lock.db");
  const first = acquireLock(path);
  expect(first).not.toBeNull();
  expect(acquireLock(path)).toBeNull();
  first!.release();
  const second = acquireLock(path);
  expect(second).not.toBeNull();
  second!.release();
});

test("[BASE-8] slots let so many in at once and the others in order, also after a failure", async () => {
  const slots = new Slots(2, 60_000);
  let now = 0;
  let most = 0;
  const order: number[] = [];
  const work = (number: number) => async (): Promise<void> => {
    most = Math.max(most, ++now);
    await new Promise(setImmediate);
    order.push(number);
    now--;
    if (number === 1) throw new Error("one failed");
  };
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map((number) => slots.run(work(number))));
  expect(most).toBe(2);
  expect(order).toEqual([0, 1, 2, 3, 4]);
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
});

test("[BASE-8] work that takes too long continues, but blocks no other", async () => {
  const slots = new Slots(1, 10);
  let finish = (): void => undefined;
  const hung = slots.run(() => new Promise<void>((resolve) => void (finish = resolve)));
  expect(await slots.run(() => Promise.resolve("the next"))).toBe("the next");
  finish();
  await hung;
  expect(await slots.run(() => Promise.resolve("one at a time again"))).toBe("one at a time again");
});

test("[BASE-9] waiting with a deadline ends, and reports that it was too late", async () => {
  expect(await bounded(Promise.resolve(7), 1_000)).toBe(7);
  expect(await bounded(new Promise<never>(() => undefined), 5)).toBe("too-late");
});

test("[BASE-2] a home whose socket path would be too long gets a short one elsewhere, with the reason", () => {
  const short = resolvePaths({ HOLDFAST_HOME: "/tmp/x", HOME: "/nowhere" });
  expect(short.socket).toBe("/tmp/x/run/daemon.sock");
  expect(short.socketMoved).toBeNull();
  const long = resolvePaths({ HOLDFAST_HOME: `/tmp/${"x".repeat(120)}`, HOME: "/nowhere" });
  expect(Buffer.byteLength(long.socket)).toBeLessThanOrEqual(maxSocketBytes);
  expect(long.socketMoved).toContain(`longer than the ${maxSocketBytes} bytes`);
});

test("[HOME-1] one directory holds everything of a home, and two homes never meet", () => {
  const one = resolvePaths({ HOLDFAST_HOME: "/tmp/one", HOME: "/nowhere" });
  const two = resolvePaths({ HOLDFAST_HOME: "/tmp/two", HOME: "/nowhere" });
  for (const [name, path] of Object.entries(one)) {
    if (name === "tmuxSocket" || path === null) continue;
    expect(path, name).toMatch(/^\/tmp\/one/);
  }
  expect(one.tmuxSocket).not.toBe(two.tmuxSocket);
  const xdg = resolvePaths({
    HOME: "/home/u",
    XDG_STATE_HOME: "/state",
    XDG_CONFIG_HOME: "/config",
    XDG_DATA_HOME: "/data",
  });
  expect([xdg.home, xdg.config, xdg.worktrees]).toEqual([
    "/state/holdfast",
    "/config/holdfast/config.yaml",
    "/data/holdfast/worktrees",
  ]);
});

test("[HOME-1] the entry files resolve the same home", () => {
  const given = [
    { HOLDFAST_HOME: "/h", HOME: "/u" },
    { HOLDFAST_HOME: "", XDG_STATE_HOME: "/s", HOME: "/u" },
    { XDG_STATE_HOME: "s", HOME: "/u" },
    { HOME: "/u" },
  ];
  expect(given.map(cacheHome)).toEqual(given.map((env) => resolvePaths(env).home));
  expect(cacheHome({})).toBeNull();
});

test("[HOME-2] a relative or empty XDG directory is ignored", () => {
  const named = { XDG_STATE_HOME: "state", XDG_CONFIG_HOME: "", XDG_DATA_HOME: "./data" };
  const { home, config, worktrees } = resolvePaths({ HOME: "/home/u", ...named });
  expect([home, config, worktrees]).toEqual([
    "/home/u/.local/state/holdfast",
    "/home/u/.config/holdfast/config.yaml",
    "/home/u/.local/share/holdfast/worktrees",
  ]);
});

test("[HOME-1] the digest that distinguishes homes is FNV-1a", () => {
  const reference = (text: string): string => {
    let hash = 0xcbf29ce484222325n;
    for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
    return hash.toString(16).padStart(16, "0").slice(0, 12);
  };
  expect(digestOf("")).toBe("cbf29ce48422");
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => digestOf(text) === reference(text)));
});
