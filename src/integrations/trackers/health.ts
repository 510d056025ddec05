/** How a tracker is doing, for `doctor` and the board: what it last said, and since when it says nothing. */
import type { Tracker } from "../../ports/tracker.ts";
import type { FindingJson, TrackerJson } from "../../contract/wire.ts";
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
      why: why ?? (this.lastOk === null ? "It was not asked yet." : null),
      requests,
      notModified,
      remaining,
      restsUntil: rests ? iso(restsUntil) : null,
      lastOk: this.lastOk === null ? null : iso(this.lastOk),
    };
  }
}

/** The adapters' own words (src/integrations/trackers/token.ts): nothing can be asked before a person does something. */
function isTokenMissing(why: string): boolean {
  return /^(No token for|The token (in|from) )/.test(why);
}

/** Of the adapters as well: waiting does not help. */
function isTokenRefused(why: string | null): boolean {
  return why !== null && /refuses the token|the token may not see it/.test(why);
}

const renewToken =
  "Give it a token that may read this repository. A variable is read when the daemon starts: then run `holdfast restart`.";

const renamed = "Set the project's tracker.repo, or the address of the remote origin, to the new name.";

export function trackerFinding(of: TrackerJson): FindingJson {
  const check = `tracker ${of.project}`;
  const name = `${of.type} ${of.repo}`;
  switch (of.state) {
    case "ok":
      if (of.lastOk === null)
        return { check, level: "info", message: `${name} has not been asked yet.`, fix: null, fixable: false };
      return of.why === null
        ? { check, level: "ok", message: `${name} answers.`, fix: null, fixable: false }
        : { check, level: "info", message: `${name} answers. ${of.why}`, fix: renamed, fixable: false };
    case "no-token":
      return { check, level: "info", message: `${name} is not asked.`, fix: of.why, fixable: false };
    case "resting":
    case "failing": {
      const until = of.restsUntil === null ? "" : ` It is asked again after ${of.restsUntil}.`;
      const since = of.lastOk === null ? " It has not answered yet." : ` It answered last at ${of.lastOk}.`;
      return {
        check,
        level: "warn",
        message: `${name}: ${of.why ?? "it asks for rest."}${since}${until} Sessions are not touched by it.`,
        fix: isTokenRefused(of.why) ? renewToken : null,
        fixable: false,
      };
    }
    default:
      return of.state satisfies never;
  }
}
