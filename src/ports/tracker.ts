/**
 * Issue trackers and code hosts as facts. Adapters query and translate; they decide nothing. Nothing here throws for a
 * tracker that is down, slow or rate-limited: that is a result too.
 */
import type { IssueFacts, PullRequestFacts, ReviewThread, TrackerType } from "../contract/tracker.ts";

/** `absent`: it does not exist, or the token cannot access it. `unknown`: no usable response; nothing follows from it. */
export type TrackerResult<T> =
  | { is: "known"; value: T }
  | { is: "absent" }
  | ({ is: "unknown"; retryAt: number | null } & TrackerFailure);

export interface TrackerFailure {
  why: string;
  /** `missing`: nothing can be queried before the user provides a token. `refused`: waiting does not help. */
  token?: "missing" | "refused" | undefined;
}

export interface TrackerSettings {
  type: TrackerType;
  /** `owner/name`, a GitLab path, or a Linear team. */
  repo: string;
  /** Address of a self-hosted instance's API; null for the public service. */
  baseUrl: string | null;
  /** Name of the environment variable with the token; null for the default sources. */
  tokenEnv: string | null;
  /** Whether the user's config.yaml names the host: required for the variables of self-hosted instances. */
  isBound?: boolean;
  /** Why a variable that a repository's file names is ignored. */
  refused?: string | null;
  /** Whether that variable is the token's: then there is no token. */
  tokenRefused?: boolean;
}

/** A query about one session: by branch, and by the numbers that are already known. */
export interface PullRequestLookup {
  key: string;
  branch: string;
  numbers: number[];
  /** Bypasses the cache, after a webhook or on request. */
  fresh?: boolean;
}

export interface Tracker {
  readonly settings: TrackerSettings;
  /** `reference` is a number, a key such as INT-1234, or a URL. */
  issue(reference: string): Promise<TrackerResult<IssueFacts>>;
  /** Many in as few requests as possible. */
  issues(references: readonly string[]): Promise<Map<string, TrackerResult<IssueFacts>>>;
  /** Null for a tracker that hosts no code (Linear). */
  readonly host: CodeHost | null;
  /** Requests since the start, the remaining rate limit if known, and the end of a backoff. */
  budget(): {
    requests: number;
    notModified: number;
    remaining: number | null;
    restsUntil: number | null;
    failure: TrackerFailure | null;
  };
}

export interface CodeHost {
  /** One batched query for many sessions; the result has every key, even if nothing was found. */
  pullRequests(lookups: readonly PullRequestLookup[]): Promise<Map<string, TrackerResult<PullRequestFacts[]>>>;
  pullRequest(reference: string): Promise<TrackerResult<PullRequestFacts>>;
  /** The last lines of a failed check's log. */
  logTail(pullRequest: PullRequestFacts, check: string, lines: number): Promise<TrackerResult<string[]>>;
  threads(pullRequest: PullRequestFacts): Promise<TrackerResult<ReviewThread[]>>;
  /** Merges only while its head is still `headSha`. */
  merge(pullRequest: PullRequestFacts): Promise<{ merged: true } | { merged: false; why: string }>;
}

export interface Trackers {
  /** Cached by settings; created without a request. */
  for(settings: TrackerSettings): Tracker;
  close(): Promise<void>;
}
