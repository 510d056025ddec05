import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GitlabLoopback } from "../../../test/trackers/gitlab.ts";
import { openWorld, type World } from "../../../test/trackers/world.ts";
import { hostContract, known, question } from "../contract.ts";

let world: World<GitlabLoopback>;

beforeEach(async () => {
  world = await openWorld("gitlab", "group/app", new GitlabLoopback());
});
afterEach(async () => {
  await world.close();
});

describe("[TRACK-1, TRACK-2, TRACK-3, TRACK-4, TRACK-5, TRACK-6, TRACK-7] GitLab is a code host", () => {
  for (const one of hostContract) {
    test(one.title, async () => {
      await one.run(world);
      expect(world.model.requests).toBeGreaterThan(0);
    });
  }
});
