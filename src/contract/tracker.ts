/** Facts about issues and pull requests, as they are stored, sent and decided on. Times are milliseconds. */
import { get, list, post, schema, time, user, watchers, type Infer, type Operations } from "./operation.ts";
import { sessionJson } from "./session.ts";

export const trackerTypes = ["github", "gitlab", "linear"] as const;
export type TrackerType = (typeof trackerTypes)[number];

export interface IssueFacts {
  /** `123` or `INT-1234`. */
  key: string;
  url: string;
  title: string;
  body: string;
  state: "open" | "closed";
  labels: string[];
  /** True for a pull request of a tracker that numbers issues and pull requests together. */
  isPullRequest?: true;
}

export type CheckState = "pending" | "passed" | "failed" | "skipped";

export interface CheckFacts {
  name: string;
  state: CheckState;
  url: string | null;
}

/** `commented` and dismissed reviews decide nothing, so they are left out. */
export type ReviewState = "none" | "required" | "changes_requested" | "approved";

export interface PullRequestFacts {
  /** `owner/name` of the repository it would be merged into. */
  repo: string;
  number: number;
  url: string;
  title: string;
  state: "open" | "closed" | "merged";
  draft: boolean;
  headBranch: string;
  headSha: string;
  /** `owner/name` it comes from; null when that repository is gone. */
  headRepo: string | null;
  baseBranch: string;
  checks: CheckFacts[];
  review: ReviewState;
  /** Null while the host has not found out. */
  conflict: boolean | null;
  /** Whether the host would let it be merged now; null while it has not found out. */
  mergeable: boolean | null;
  mergeCommit: string | null;
  updatedAt: number;
}

export interface ReviewThread {
  id: string;
  path: string | null;
  line: number | null;
  author: string;
  body: string;
  url: string;
  resolved: boolean;
}

/** A pull request as a session remembers it. */
export interface SeenPullRequest {
  facts: PullRequestFacts;
  /** When it was last different from before; that it still is so is known to the running daemon only. */
  seenAt: number;
  /** The user or the agent linked it to this session: its branch does not matter. */
  claimed: boolean;
  /** Who linked it. Missing from records of earlier builds, which does not count as the user. */
  claimedBy?: string;
  /** Why it no longer counts: its host does not show it, or another session claimed it. Kept because it may come back. */
  lost: string | null;
  /** The session that claimed it. State saved by an earlier build has it only in `lost`. */
  takenBy?: string | undefined;
}

export interface SeenIssue extends Omit<IssueFacts, "body"> {
  seenAt: number;
}

/** More checks than anybody reads; the failed ones are kept before all others. */
export const maxChecks = 60;

/** One tracker of one project. `why` explains a problem. */
const trackerJson = schema("trackerJson", (z) =>
  z.object({
    project: z.string(),
    type: z.string(),
    repo: z.string(),
    state: z.enum(["ok", "resting", "failing", "no-token"]),
    why: z.nullable(z.string()),
    /** Set if the token is the problem. */
    token: z.optional(z.enum(["missing", "refused"])),
    requests: z.number(),
    notModified: z.number(),
    /** Requests left within the tracker's own limit, if it reports one. */
    remaining: z.nullable(z.number()),
    restsUntil: time(z),
    lastOk: time(z),
  }),
);
export type TrackerJson = Infer<typeof trackerJson>;

const refreshRequest = schema("refreshRequest", (z) => z.strictObject({ project: z.optional(z.string()) }));

/** A number, or an address. */
const claimRequest = schema("claimRequest", (z) =>
  z.strictObject({ pullRequest: z.string().check(z.minLength(1), z.maxLength(2048)) }),
);

const wakeJson = schema("wakeJson", (z) => z.object({ woken: z.boolean() }));

export const trackerOperations = {
  trackers: get("/api/trackers", "Show the state of the projects' trackers", watchers, list(trackerJson)),
  trackersRefresh: post(
    "/api/trackers/refresh",
    "Poll the trackers now; returns once the results are recorded",
    user,
    list(trackerJson),
    refreshRequest,
  ),
  claimPullRequest: post(
    "/api/sessions/{id}/claim-pr",
    "Link a pull request to a session",
    { device: "all", agent: "own" },
    sessionJson,
    claimRequest,
  ),
  webhook: {
    method: "POST",
    path: "/api/webhooks/{id}",
    summary: "Receive a tracker's signed notice that a project changed; it only wakes the poller",
    who: {
      device: "anyone",
      whileReadOnly: { why: "It only makes the daemon poll sooner, which it does anyway." },
    },
    raw: true,
    output: wakeJson,
  },
} as const satisfies Operations;
