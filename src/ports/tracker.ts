/**
 * What issue trackers and code hosts say, as facts. Adapters only ask and translate; what follows from it is decided in
 * core. Nothing here throws for a tracker that is down, slow or rate-limited: that is an answer like any other.
 */
import type { IssueFacts, PullRequestFacts, ReviewThread, TrackerType } from "../contract/tracker.ts";

/** `absent`: the tracker says there is none (or none that we may see). `unknown`: it did not say; nothing follows. */
export type TrackerResult<T> =
  | { is: "known"; value: T }
  | { is: "absent" }
  | { is: "unknown"; why: string; retryAt: number | null };

export interface TrackerSettings {
  type: TrackerType;
  /** `owner/name`, a GitLab path, or a Linear team. */
  repo: string;
  /** Address of the API of an instance of one's own; null for the public one. */
  baseUrl: string | null;
  /** Name of the environment variable that holds the token; null for the adapter's usual places. */
  tokenEnv: string | null;
  /** Whether the user's own config.yaml names the host; only then do the usual variables for other hosts belong to it. */
  isBound?: boolean;
  /** Why a variable that a repository's file names does not count. */
  refused?: string | null;
  /** Whether that variable is the token's: then there is none at all. */
  tokenRefused?: boolean;
}

/** What is asked of a code host about one session: by branch, and by the numbers that are already known. */
export interface PullRequestQuestion {
  key: string;
  branch: string;
  numbers: number[];
  /** Asked anew although nothing seems to have changed: a webhook or a person said so. */
  fresh?: boolean;
}

export interface Tracker {
  readonly settings: TrackerSettings;
  /** `reference` is a number, a key such as INT-1234, or a URL. */
  issue(reference: string): Promise<TrackerResult<IssueFacts>>;
  /** Many at once, in as few requests as the tracker allows. */
  issues(references: readonly string[]): Promise<Map<string, TrackerResult<IssueFacts>>>;
  /** The host of the code; null for a tracker that has none (Linear). */
  readonly host: CodeHost | null;
  /** Requests made since the start, what is left of the limit where that was said, and until when it rests. */
  budget(): {
    requests: number;
    notModified: number;
    remaining: number | null;
    restsUntil: number | null;
    failure: string | null;
  };
}

export interface CodeHost {
  /** One batched query for many sessions; a session's key is in the answer even if nothing was found. */
  pullRequests(questions: readonly PullRequestQuestion[]): Promise<Map<string, TrackerResult<PullRequestFacts[]>>>;
  pullRequest(reference: string): Promise<TrackerResult<PullRequestFacts>>;
  /** The last lines of a failed check's log, for the agent to read. */
  logTail(pullRequest: PullRequestFacts, check: string, lines: number): Promise<TrackerResult<string[]>>;
  threads(pullRequest: PullRequestFacts): Promise<TrackerResult<ReviewThread[]>>;
  /** Merges only while its head is still `headSha`. */
  merge(pullRequest: PullRequestFacts): Promise<{ merged: true } | { merged: false; why: string }>;
}

export interface Trackers {
  /** The one for these settings; cached, made without asking anybody anything. */
  for(settings: TrackerSettings): Tracker;
  close(): Promise<void>;
}
