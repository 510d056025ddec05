import { expect, test } from "vitest";
import { routes, type RouteName } from "../protocol/http.ts";
import { asProjectId } from "../protocol/ids.ts";
import { fenceOf, refusal } from "./fence.ts";

const asker = { id: "ma-1", project: asProjectId("my-app") };
const mine = { project: "my-app" };
const other = { project: "other" };

test("[ROLE-2] an agent spawns, lists, messages and reads its own project's sessions", () => {
  for (const route of ["session", "events", "sse", "stream", "transcript", "screen", "prompt", "queue"] as const) {
    expect(refusal(asker, route, mine)).toBeNull();
    expect(refusal(asker, route, other)).toMatch(/no say in other/);
  }
  expect(refusal(asker, "sessions", null)).toBeNull();
  expect(refusal(asker, "sessions", other)).toMatch(/no say in other/);
  expect(refusal(asker, "spawn", { project: "my-app", role: "worker" })).toBeNull();
  expect(refusal(asker, "spawn", { project: "my-app", role: "orchestrator" })).toMatch(/not another orchestrator/);
  expect(refusal(asker, "spawn", other)).toMatch(/no say in other/);
});

test("[ROLE-2] no route that ends or removes anything is open to an agent", () => {
  const allowed = (Object.keys(routes) as RouteName[]).filter((route) => fenceOf(route) !== null);
  const writing = allowed.filter((route) => routes[route].method !== "GET");
  expect(writing.toSorted()).toEqual(["claimPullRequest", "prompt", "spawn"]);
  for (const route of [
    "loginLink",
    "logout",
    "terminal",
    "kill",
    "delete",
    "stop",
    "trashEmpty",
    "daemonStop",
    "answer",
    "projectRemove",
  ] as const) {
    expect(refusal(asker, route, mine)).toMatch(/for a person to say/);
  }
});

test("[ROLE-2] an agent follows one session at a time, and claims pull requests for itself alone", () => {
  expect(refusal(asker, "sse", null)).toMatch(/one session of my-app/);
  expect(refusal(asker, "stream", null)).toMatch(/one session of my-app/);
  expect(refusal(asker, "claimPullRequest", { id: "ma-1", ...mine })).toBeNull();
  expect(refusal(asker, "claimPullRequest", { id: "ma-2", ...mine })).toMatch(/not of ma-2/);
});
