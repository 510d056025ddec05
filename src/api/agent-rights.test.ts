import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { operation, operationNames } from "../contract/operations.ts";
import { agentRights } from "../contract/rights.ts";
import type { Containment } from "../contract/containment.ts";
import { asProjectId } from "../contract/ids.ts";
import { refusal, spawnRefusal } from "./authorize.ts";

const asker = { id: "ma-1", project: asProjectId("my-app") };
const mine = { id: "ma-2", project: "my-app" };
const other = { id: "ot-1", project: "other" };
const shell = { id: "ma-3", project: "my-app", isShell: true };

test("[SESSION-55, AUTHORIZE-4] an agent lists, messages and reads its own project's sessions, and never a shell", () => {
  const open = operationNames.filter((name) => operation(name).who.agent !== undefined);
  const about = open.filter((name) => operation(name).path.includes("{id}/"));
  expect(about).toEqual(expect.arrayContaining(["events", "transcript", "screen", "prompt", "queue", "changes"]));
  for (const route of [...about, "session", "sse", "stream"] as const) {
    expect(refusal({ ...asker, id: mine.id }, route, mine)).toBeNull();
    expect(refusal(asker, route, other)).toMatch(/no access to other/);
    expect(refusal(asker, route, shell)).toBe("ma-3 is a shell, which only the user may use.");
  }
  expect(refusal(asker, "sessions", null)).toBeNull();
  expect(refusal(asker, "sessions", { project: "other" })).toMatch(/no access to other/);
  expect(refusal(asker, "spawn", { project: "my-app" })).toBeNull();
  expect(refusal(asker, "spawn", { project: "other" })).toMatch(/no access to other/);
});

test("[AUTHORIZE-4] a contained agent neither prompts nor reads one that is not contained", () => {
  const contain = { mode: "worktree", network: "on", read: [], write: [] } as Containment;
  const contained = { ...asker, contain };
  for (const route of ["prompt", "screen", "session", "sse"] as const) {
    expect(refusal(contained, route, mine)).toMatch(/ma-1 is contained and ma-2 is not/);
    expect(refusal(contained, route, { ...mine, contain })).toBeNull();
    expect(refusal(asker, route, { ...mine, contain })).toBeNull();
  }
  expect(refusal(contained, "sessions", { project: "my-app" })).toBeNull();
  expect(refusal(contained, "spawn", { project: "my-app" })).toBeNull();
});

test("[AUTHORIZE-5] an agent starts new workers: no shell, no second orchestrator, and it restores nothing", () => {
  const worker = { role: "worker", isShell: false, resume: false, from: false };
  const contained = { ...asker, contain: { mode: "worktree", network: "on", read: [], write: [] } as Containment };
  expect(spawnRefusal(asker, worker)).toBeNull();
  expect(spawnRefusal(asker, { ...worker, from: true })).toBeNull();
  // postCreate would run the agent's own commit outside of its containment.
  expect(spawnRefusal(contained, { ...worker, from: true })).toMatch(/default branch/);
  expect(spawnRefusal(contained, worker)).toBeNull();
  expect(spawnRefusal(asker, { ...worker, isShell: true })).toMatch(/not a shell/);
  expect(spawnRefusal(asker, { ...worker, role: "shell", isShell: true })).toMatch(/not a shell/);
  expect(spawnRefusal(asker, { ...worker, role: "orchestrator" })).toMatch(/not another orchestrator/);
  expect(spawnRefusal(asker, { ...worker, resume: true })).toMatch(/only the user may restore/);
});

test("[SESSION-55, AUTHORIZE-4] no route that ends, answers, removes or configures anything is open to an agent", () => {
  const allowed = operationNames.filter((name) => operation(name).who.agent !== undefined);
  const writing = allowed.filter((name) => operation(name).method !== "GET");
  expect(writing.toSorted()).toEqual(["claimPullRequest", "prompt", "spawn"]);
  const refused = operationNames.filter((name) => !allowed.includes(name));
  for (const route of refused) expect(refusal(asker, route, mine)).toMatch(/Only the user may do this/);
  expect(refused).toEqual(expect.arrayContaining(["settings", "answer", "loginLink", "terminal", "kill", "convert"]));
});

test("[SESSION-55] an agent follows one session at a time, and claims pull requests for itself alone", () => {
  expect(refusal(asker, "sse", null)).toMatch(/one session of my-app/);
  expect(refusal(asker, "stream", null)).toMatch(/one session of my-app/);
  expect(refusal(asker, "claimPullRequest", { ...mine, id: "ma-1" })).toBeNull();
  expect(refusal(asker, "claimPullRequest", mine)).toMatch(/not for ma-2/);
});

test("[AUTHORIZE-7] the docs have the table as the daemon enforces it", () => {
  const root = join(import.meta.dirname, "../..");
  const rows = Object.values(agentRights).map(({ may, limit }) => `| ${may} | ${limit} |`);
  for (const file of ["docs/spec.md", "docs/security.md", "docs/decisions/0014-agent-capabilities.md"]) {
    const lines = readFileSync(join(root, file), "utf8").split("\n");
    expect(lines).toEqual(expect.arrayContaining(rows));
  }
});
