import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GithubLoopback } from "../../../test/trackers/github.ts";
import { openWorld, type World } from "../../../test/trackers/world.ts";
import { hostContract, known, question } from "../contract.ts";

let world: World<GithubLoopback>;

beforeEach(async () => {
  world = await openWorld("github", "owner/app", new GithubLoopback());
});
afterEach(async () => {
  await world.close();
});

describe("[TRACK-1, TRACK-2, TRACK-3, TRACK-4, TRACK-5, TRACK-6, TRACK-7] GitHub is a code host", () => {
  for (const one of hostContract) {
    test(one.title, async () => {
      await one.run(world);
      expect(world.model.requests).toBeGreaterThan(0);
    });
  }
});
