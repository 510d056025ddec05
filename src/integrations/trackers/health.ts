/** The health of a tracker, for `doctor` and the board. */
import type { Tracker } from "../../ports/tracker.ts";
import type { FindingJson } from "../../contract/daemon.ts";
import type { TrackerJson } from "../../contract/tracker.ts";
import { iso } from "../../supervisor/view.ts";

export class TrackerHealth {
  lastOk: number | null = null;
  #failure: string | null = null;

  ok(now: number): void {
    this.lastOk = now;
    this.#failure = null;
  }

  failed(why: string): void {
    this.#failure = why;
  }

  json(project: string, tracker: Tracker, now: number): TrackerJson {
    const { requests, notModified, remaining, restsUntil, failure } = tracker.budget();
    const why = this.#failure ?? failure;
    const rests = restsUntil !== null && restsUntil > now;
    return {
      project,
      type: tracker.settings.type,
      repo: tracker.settings.repo,
      state:
        why === null ? (rests ? "resting" : "ok") : isTokenMissing(why) ? "no-token" : rests ? "resting" : "failing",
      why: why ?? (this.lastOk === null ? "Not checked yet." : null),
      requests,
      notModified,
      remaining,
      restsUntil: rests ? iso(restsUntil) : null,
      lastOk: this.lastOk === null ? null : iso(this.lastOk),
    };
  }
}

/** Sentences of account.ts: nothing can be queried before the user acts. */
function isTokenMissing(why: string): boolean {
  return /^(No token for|The token (in|from) )/.test(why);
}

/** Waiting does not help. */
function isTokenRefused(why: string | null): boolean {
  return why !== null && /rejected the token|the token cannot access it/.test(why);
}

const renewToken =
  "Set a token that can read this repository. The daemon reads variables when it starts: then run `holdfast restart`.";

const renamed = "Set the project's tracker.repo, or the address of the origin remote, to the new name.";

export function trackerFinding(of: TrackerJson): FindingJson {
  const check = `tracker ${of.project}`;
  const name = `${of.type} ${of.repo}`;
  switch (of.state) {
    case "ok":
      if (of.lastOk === null)
        return { check, level: "info", message: `${name} has not been checked yet.`, fix: null, fixable: false };
      return of.why === null
        ? { check, level: "ok", message: `${name} is reachable.`, fix: null, fixable: false }
        : { check, level: "info", message: `${name} is reachable. ${of.why}`, fix: renamed, fixable: false };
    case "no-token":
      return { check, level: "info", message: `${name} is not polled.`, fix: of.why, fixable: false };
    case "resting":
    case "failing": {
      const until = of.restsUntil === null ? "" : ` Retrying after ${of.restsUntil}.`;
      const since = of.lastOk === null ? " It has not responded yet." : ` It last responded at ${of.lastOk}.`;
      return {
        check,
        level: "warn",
        message: `${name}: ${of.why ?? "rate-limited."}${since}${until} Sessions are unaffected.`,
        fix: isTokenRefused(of.why) ? renewToken : null,
        fixable: false,
      };
    }
    default:
      return of.state satisfies never;
  }
}
