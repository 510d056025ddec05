/** The data of a fake code host, whichever API it speaks: issues, pull requests, checks, reviews, threads. */
import { createHash } from "node:crypto";
import { Loopback } from "./loopback.ts";

export type ModelCheckState = "pending" | "passed" | "failed" | "skipped";

export interface ModelIssue {
  number: number;
  title: string;
  body: string | null;
  state: "open" | "closed";
  labels: string[];
  createdAt: Date;
  updatedAt: Date;
}

export interface ModelCheck {
  id: number;
  name: string;
  state: ModelCheckState;
  log: string;
  /** A commit status of another service instead of the host's own job. */
  status: boolean;
}

export interface ModelReview {
  id: number;
  author: string;
  state: "approved" | "changes_requested" | "commented" | "dismissed";
  body: string;
  /** A stranger's review is shown, but decides nothing. */
  writer: boolean;
}

export interface ModelThread {
  id: number;
  path: string | null;
  line: number | null;
  /** `writer: false`: by a stranger. */
  comments: { id: number; author: string; body: string; writer?: boolean }[];
  resolved: boolean;
}

export interface ModelPullRequest {
  number: number;
  title: string;
  body: string | null;
  state: "open" | "closed" | "merged";
  draft: boolean;
  branch: string;
  sha: string;
  /** Where the branch lives; null once that fork was deleted. */
  repo: string | null;
  base: string;
  checks: ModelCheck[];
  reviews: ModelReview[];
  threads: ModelThread[];
  /** Null: the host has not computed it yet. */
  conflict: boolean | null;
  mergeCommit: string | null;
  createdAt: Date;
  updatedAt: Date;
}

export abstract class CodeHostLoopback extends Loopback {
  /** `owner/name`, its current name. */
  repo: string;
  /** Its earlier names: requests for them are redirected. */
  readonly formerNames: string[] = [];
  readonly issuesByNumber = new Map<number, ModelIssue>();
  readonly pullRequestsByNumber = new Map<number, ModelPullRequest>();
  /** Any token is valid unless one is set here. */
  acceptedToken: string | null = null;
  /** No permission: everything about the repository is 404. */
  hidden = false;
  /** Whether the base branch requires an approval. */
  reviewRequired = false;
  /** Called when a merge is requested over the API, before it is recorded; returns the merge commit. */
  onMerge: ((pullRequest: ModelPullRequest) => string) | null = null;
  #lastNumber = 0;
  #lastId = 1000;
  #lastTime = 0;

  constructor(repo = "owner/app") {
    super();
    this.repo = repo;
  }

  openIssue(options: { title?: string; body?: string | null; labels?: string[]; number?: number } = {}): number {
    const number = options.number ?? this.nextNumber("issue");
    const at = this.#now();
    this.issuesByNumber.set(number, {
      number,
      title: options.title ?? `Issue ${number}`,
      body: options.body === undefined ? `What issue ${number} is about.` : options.body,
      state: "open",
      labels: options.labels ?? [],
      createdAt: at,
      updatedAt: at,
    });
    return number;
  }

  closeIssue(number: number): void {
    const issue = this.issuesByNumber.get(number)!;
    issue.state = "closed";
    issue.updatedAt = this.#now();
  }

  openPullRequest(options: {
    branch: string;
    repo?: string | null;
    sha?: string;
    title?: string;
    body?: string | null;
    draft?: boolean;
    base?: string;
  }): number {
    const number = this.nextNumber("pull request");
    const at = this.#now();
    this.pullRequestsByNumber.set(number, {
      number,
      title: options.title ?? `Pull request ${number}`,
      body: options.body ?? null,
      state: "open",
      draft: options.draft ?? false,
      branch: options.branch,
      sha: options.sha ?? shaOf(`${options.branch} ${number}`),
      repo: options.repo === undefined ? this.repo : options.repo,
      base: options.base ?? "main",
      checks: [],
      reviews: [],
      threads: [],
      conflict: false,
      mergeCommit: null,
      createdAt: at,
      updatedAt: at,
    });
    return number;
  }

  /** A new commit: its checks start over. */
  push(number: number, sha = shaOf(`${number} ${this.#lastId++}`)): string {
    const one = this.pull(number);
    one.sha = sha;
    one.checks = [];
    this.touch(one);
    return sha;
  }

  /** As on the real hosts, a changed check does not count as an update of the pull request. */
  setCheck(
    number: number,
    name: string,
    state: ModelCheckState,
    options: { log?: string; status?: boolean } = {},
  ): ModelCheck {
    const one = this.pull(number);
    let check = one.checks.find((found) => found.name === name);
    if (check === undefined) {
      check = { id: this.#lastId++, name, state, log: "", status: options.status ?? false };
      one.checks.push(check);
    }
    check.state = state;
    if (options.log !== undefined) check.log = options.log;
    return check;
  }

  review(
    number: number,
    state: ModelReview["state"],
    options: { author?: string; body?: string; writer?: boolean } = {},
  ): void {
    const one = this.pull(number);
    const { author = "reviewer", body = "", writer = true } = options;
    one.reviews.push({ id: this.#lastId++, author, state, body, writer });
    this.touch(one);
  }

  addThread(
    number: number,
    options: { path?: string | null; line?: number | null; author?: string; body?: string; writer?: boolean } = {},
  ): number {
    const one = this.pull(number);
    const id = this.#lastId++;
    one.threads.push({
      id,
      path: options.path === undefined ? "src/app.ts" : options.path,
      line: options.line === undefined ? 7 : options.line,
      comments: [
        {
          id: this.#lastId++,
          author: options.author ?? "reviewer",
          body: options.body ?? "Why so?",
          writer: options.writer ?? true,
        },
      ],
      resolved: false,
    });
    this.touch(one);
    return id;
  }

  replyTo(number: number, thread: number, author: string, body: string, writer = true): void {
    const one = this.pull(number);
    one.threads.find((found) => found.id === thread)!.comments.push({ id: this.#lastId++, author, body, writer });
    this.touch(one);
  }

  resolveThread(number: number, thread: number): void {
    this.pull(number).threads.find((found) => found.id === thread)!.resolved = true;
  }

  /** The base moved; that does not count as an update of the pull request either. */
  setConflict(number: number, conflict: boolean | null): void {
    this.pull(number).conflict = conflict;
  }

  setDraft(number: number, draft: boolean): void {
    const one = this.pull(number);
    one.draft = draft;
    this.touch(one);
  }

  merge(number: number, commit = shaOf(`merge ${number}`)): void {
    const one = this.pull(number);
    one.state = "merged";
    one.mergeCommit = commit;
    this.touch(one);
  }

  closePullRequest(number: number): void {
    const one = this.pull(number);
    one.state = "closed";
    this.touch(one);
  }

  deleteFork(number: number): void {
    this.pull(number).repo = null;
  }

  rename(name: string): void {
    this.formerNames.push(this.repo);
    for (const one of this.pullRequestsByNumber.values()) if (one.repo === this.repo) one.repo = name;
    this.repo = name;
  }

  pull(number: number): ModelPullRequest {
    const one = this.pullRequestsByNumber.get(number);
    if (one === undefined) throw new Error(`there is no pull request ${number}`);
    return one;
  }

  /** Issues and pull requests share their numbers on GitHub, but not on GitLab. */
  protected nextNumber(_of: "issue" | "pull request"): number {
    return ++this.#lastNumber;
  }

  protected touch(one: ModelPullRequest): void {
    one.updatedAt = this.#now();
  }

  /** Full seconds, like the hosts; each change a second later, so that no two times are equal. */
  #now(): Date {
    this.#lastTime = Math.max(this.#lastTime + 1, Math.floor(Date.now() / 1000));
    return new Date(this.#lastTime * 1000);
  }
}

/** The latest review of each author that decides something. */
export function opinions(one: ModelPullRequest): ModelReview[] {
  const latest = new Map<string, ModelReview>();
  for (const review of one.reviews) if (review.state !== "commented") latest.set(review.author, review);
  return [...latest.values()].filter((review) => review.state !== "dismissed");
}

export function isApproved(one: ModelPullRequest): boolean {
  return opinions(one).some((review) => review.writer && review.state === "approved") && !isRefused(one);
}

export function isRefused(one: ModelPullRequest): boolean {
  return opinions(one).some((review) => review.writer && review.state === "changes_requested");
}

export function shaOf(text: string): string {
  return createHash("sha1").update(text).digest("hex");
}
