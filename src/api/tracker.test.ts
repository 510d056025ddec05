import { expect, test } from "vitest";
import type { TrackerJson } from "../contract/tracker.ts";
import { trackerFinding } from "./tracker.ts";

const healthy: TrackerJson = {
  project: "app",
  type: "github",
  repo: "acme/app",
  state: "ok",
  why: null,
  requests: 0,
  notModified: 0,
  remaining: null,
  restsUntil: null,
  lastOk: null,
};

test("[TRACKER-40] a tracker that was not asked yet is not reported as answering", () => {
  const fresh = trackerFinding({ ...healthy, why: "Not checked yet." });
  expect([fresh.level, fresh.message]).toEqual(["info", "github acme/app has not been checked yet."]);
  const asked = trackerFinding({ ...healthy, lastOk: "2026-11-17T00:00:00.000Z" });
  expect([asked.level, asked.message]).toEqual(["ok", "github acme/app is reachable."]);
});
