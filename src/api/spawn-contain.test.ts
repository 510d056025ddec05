import { expect, test } from "vitest";
import { notContained, type Containment } from "../contract/containment.ts";
import { asProjectId, asSessionId } from "../contract/ids.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { Services } from "../supervisor/services.ts";
import { containedBranch, containmentFor } from "./spawn-checks.ts";

const inside: Containment = { mode: "worktree", network: "off", read: [], write: [] };
const settings = (contain: Containment): ProjectSettings =>
  ({ id: asProjectId("app"), path: "/app", contain }) as Partial<ProjectSettings> as ProjectSettings;
const store = (contain?: Containment): Pick<Services, "store" | "agents"> =>
  ({ store: { session: () => ({ contain }) }, agents: { of: () => null } }) as unknown as Pick<
    Services,
    "store" | "agents"
  >;
const request = { project: "app" };

test("[CONTAIN-10] the person may loosen a session, an agent neither the project's nor its own containment", () => {
  const off = { ...request, contain: { mode: "off" as const } };
  expect(containmentFor(store(), settings(inside), off, "person").mode).toBe("off");
  expect(containmentFor(store(), settings(inside), off, "session:ma-1")).toEqual(inside);
  expect(containmentFor(store(inside), settings(notContained), off, "session:ma-1")).toEqual(inside);
  expect(containmentFor(store(), settings(notContained), off, "session:ma-1").mode).toBe("off");
});

test("[CONTAIN-9] a network without containment is a mistake, not a wish that is dropped", () => {
  const off = { ...request, contain: { network: "off" as const } };
  expect(() => containmentFor(store(), settings(notContained), off, "person")).toThrow("cut off from the network");
});

test("[CONTAIN-12] the branch is in a folder that holds nothing else", async () => {
  const taken = new Set(["holdfast/ma-1", "feature", "mine/x"]);
  const workspaces = {
    freeBranch: (_: string, name: string) => Promise.resolve(taken.has(name) ? `${name}-2` : name),
  } as Partial<Services["workspaces"]> as Services["workspaces"];
  const of = (over: object): Promise<string> =>
    containedBranch({ workspaces }, settings(inside), {
      id: asSessionId("ma-2"),
      asked: undefined,
      issue: null,
      title: null,
      ...over,
    });
  expect(await of({})).toBe("holdfast/ma-2/work");
  expect(await of({ id: asSessionId("ma-1"), title: "Fix it" })).toBe("holdfast/ma-1-2/fix-it");
  expect(await of({ issue: "123", title: "Fix it" })).toBe("holdfast/ma-2/123-fix-it");
  expect(await of({ asked: "own/branch" })).toBe("own/branch");
  for (const asked of ["main", "feature/x"]) await expect(of({ asked })).rejects.toThrow("in its own folder");
});
