/** Our tracker adapter in front of a fake host: its own clock, its own token, and none of the user's tokens. */
import { createTrackers } from "../../src/integrations/trackers/trackers.ts";
import type { Tracker, Trackers, TrackerSettings } from "../../src/ports/tracker.ts";
import type { Loopback } from "./loopback.ts";

export interface World<Model extends Loopback> {
  model: Model;
  trackers: Trackers;
  tracker: Tracker;
  settings: TrackerSettings;
  secret: string;
  advance: (ms: number) => void;
  close(): Promise<void>;
}

const secret = "tok_0123456789abcdef";
/** Short enough that a hanging host does not delay the suite, long enough for a loaded machine. */
const deadlineMs = 3000;

export async function openWorld<Model extends Loopback>(
  type: TrackerSettings["type"],
  repo: string,
  model: Model,
  env: Record<string, string> = { TRACKER_TOKEN: secret },
): Promise<World<Model>> {
  await model.listen();
  let offset = 0;
  const trackers = createTrackers({
    env,
    run: async () => null,
    configDir: "/nonexistent",
    now: () => Date.now() + offset,
    bounds: { deadlineMs, maxBytes: 2_000_000 },
  });
  const settings: TrackerSettings = { type, repo, baseUrl: model.url, tokenEnv: "TRACKER_TOKEN" };
  return {
    model,
    trackers,
    tracker: trackers.for(settings),
    settings,
    secret,
    advance(ms) {
      offset += ms;
    },
    async close() {
      await trackers.close();
      await model.close();
    },
  };
}
