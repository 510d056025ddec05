import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lossMs, seeLoss } from "./agent-output.ts";
import { AgentFiles } from "./agent-files.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hf-agent-files-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function makeHome(): { files: AgentFiles; home: string; launch: string; out: string } {
  const home = join(directory, "home");
  const launch = join(home, "acp-workers/ma-1/a-launch");
  const out = join(launch, "out");
  mkdirSync(launch, { recursive: true });
  writeFileSync(out, "");
  return { files: new AgentFiles(join(home, "acp-workers")), home, launch, out };
}

test("[CHAT-99] a file is removed when it, its launch or all workers are gone from the same home", () => {
  const { files, home, launch, out } = makeHome();
  expect(files.isRemoved(out)).toBe(false);
  for (const path of [out, launch, join(home, "acp-workers")]) {
    rmSync(path, { recursive: true });
    expect(files.isRemoved(out), path).toBe(true);
  }
});

test("[CHAT-99] an error other than a missing file removes nothing", () => {
  const { files, launch, out } = makeHome();
  rmSync(out);
  symlinkSync("out", out);
  expect(files.isRemoved(out)).toBe(false);
  rmSync(launch, { recursive: true });
  writeFileSync(launch, "");
  expect(files.isRemoved(out)).toBe(false);
});

test("[CHAT-99] an unmounted home removes nothing, whether its mount point is there or not", () => {
  const { files, home, out } = makeHome();
  renameSync(home, `${home}.away`);
  expect(files.isRemoved(out)).toBe(false);
  mkdirSync(home);
  writeFileSync(join(home, "daemon.json"), "");
  expect(files.isRemoved(out)).toBe(false);
});

test("[CHAT-99] files that are missing for ten seconds are lost, and that is reported once", () => {
  const proc = { missingSince: null, lossReported: false };
  expect(seeLoss(proc, true, 0)).toBe(false);
  expect(seeLoss(proc, true, lossMs - 1)).toBe(false);
  expect(seeLoss(proc, false, lossMs)).toBe(false);
  expect(seeLoss(proc, true, lossMs + 1)).toBe(false);
  expect(seeLoss(proc, true, 2 * lossMs)).toBe(false);
  expect(seeLoss(proc, true, 2 * lossMs + 1)).toBe(true);
  proc.lossReported = true;
  expect(seeLoss(proc, true, 4 * lossMs)).toBe(false);
});
