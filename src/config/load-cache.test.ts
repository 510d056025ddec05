import { mkdtempSync, renameSync, rmSync, statSync, unlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ConfigCache } from "./load.ts";

let root: string;
let file: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "holdfast-cache-"));
  file = join(root, "holdfast.yaml");
  writeFileSync(file, "defaults: {agent: one}\n");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const later = (): number => Date.now() + 60_000;

test("[CONFIG-18] a file that did not change is not parsed again", async () => {
  const cache = new ConfigCache(later);
  expect(await cache.load(file)).toBe(await cache.load(file));
});

test("[CONFIG-18] a change is detected, even with the same size and time, by the inode", async () => {
  const cache = new ConfigCache(later);
  const first = await cache.load(file);
  const other = join(root, "other");
  writeFileSync(other, "defaults: {agent: two}\n");
  utimesSync(file, 1, 1);
  utimesSync(other, 1, 1);
  renameSync(other, file);
  expect(await cache.load(file)).toMatchObject({ config: { defaults: { agent: "two" } } });
  expect(first).toMatchObject({ config: { defaults: { agent: "one" } } });
});

test("[CONFIG-18] a reading from within the clock's grain is not trusted", async () => {
  const cache = new ConfigCache(() => statSync(file).mtimeMs + 1000);
  expect(await cache.load(file)).not.toBe(await cache.load(file));
});

test("[CONFIG-18] a file that goes and comes back is read again", async () => {
  const cache = new ConfigCache(later);
  await cache.load(file);
  unlinkSync(file);
  expect(await cache.load(file)).toMatchObject({ ok: false });
  writeFileSync(file, "defaults: {agent: one}\n");
  expect(await cache.load(file)).toMatchObject({ ok: true });
});
