/** The health of a tracker. */
import type { Tracker, TrackerFailure } from "../../ports/tracker.ts";
import type { TrackerJson } from "../../contract/tracker.ts";
import { iso } from "../../supervisor/view.ts";

export class TrackerHealth {
  lastOk: number | null = null;
  #failure: TrackerFailure | null = null;

  ok(now: number): void {
    this.lastOk = now;
    this.#failure = null;
  }

  failed(failure: TrackerFailure): void {
    this.#failure = failure;
  }

  json(project: string, tracker: Tracker, now: number): TrackerJson {
    const { requests, notModified, remaining, restsUntil, failure: last } = tracker.budget();
    const failure = this.#failure ?? last;
    const rests = restsUntil !== null && restsUntil > now;
    return {
      project,
      type: tracker.settings.type,
      repo: tracker.settings.repo,
      state: failure?.token === "missing" ? "no-token" : rests ? "resting" : failure === null ? "ok" : "failing",
      why: failure?.why ?? (this.lastOk === null ? "Not checked yet." : null),
      ...(failure?.token === undefined ? {} : { token: failure.token }),
      requests,
      notModified,
      remaining,
      restsUntil: rests ? iso(restsUntil) : null,
      lastOk: this.lastOk === null ? null : iso(this.lastOk),
    };
  }
}
