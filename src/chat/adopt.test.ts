import { appendFileSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { promptKey, requestLine, resultLine } from "../contract/acp.ts";
import { asLaunchId, asPromptId } from "../contract/ids.ts";
import { openPrompt, readSent } from "./adopt.ts";

const launch = asLaunchId("a-launch");
const [first, last] = [asPromptId("p-1"), asPromptId("p-2")];
const prompt = (id: typeof first): string => requestLine(launch, promptKey(id), "session/prompt", {});
const answer = (id: typeof first): string => {
  const request = JSON.parse(prompt(id)) as { id: string };
  return resultLine(request.id, {});
};

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "hf-adopt-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

test("[HOME-7] the answer to the last prompt is found in an output that is longer than any string", async () => {
  const out = join(directory, "out");
  writeFileSync(out, answer(first));
  // A hole: what was read is given back to the disk.
  truncateSync(out, 600 * 1024 * 1024);
  appendFileSync(out, "\n");
  expect(await openPrompt(directory, launch, { prompts: [first, last] })).toBe(last);
  appendFileSync(out, answer(last));
  expect(await openPrompt(directory, launch, { prompts: [first, last] })).toBeNull();
});

test("[HOME-7] sent lines are read from the first unknown byte, and foreign lines are detected", async () => {
  const file = join(directory, "in");
  writeFileSync(file, prompt(first) + prompt(last));
  expect(await readSent(directory, launch, 0)).toEqual({ prompts: [first, last], replayFilter: null });
  expect(await readSent(directory, launch, prompt(first).length)).toEqual({ prompts: [last], replayFilter: null });
  appendFileSync(file, "torn");
  expect(await readSent(directory, launch, 0)).toBeNull();
});
