/**
 * Merge requests of many sessions: the list of recently updated ones shows which branches have one and which changed;
 * only those are queried for pipeline and approvals, each with a conditional request.
 */
import * as z from "zod/mini";
import type { TrackerResult, PullRequestLookup } from "../../../ports/tracker.ts";
import type { CheckFacts, PullRequestFacts, CheckState, ReviewState } from "../../../contract/tracker.ts";
import { absent, eachOf, known, resultOf, shaped, commitId, count, time, webAddress } from "../result.ts";
import { Memory, type Updated, type Updates } from "../memory.ts";
import { plain } from "../text.ts";
import type { GitlabClient } from "./client.ts";

const listedShape = z.object({
  iid: count,
  state: z.enum(["opened", "closed", "merged", "locked"]),
  source_branch: z.string(),
  sha: z.nullable(commitId),
  updated_at: time,
});

const pipelineShape = z.object({
  id: count,
  project_id: z.optional(count),
  status: z.string(),
  web_url: z.nullish(webAddress),
});

const detailShape = z.object({
  iid: count,
  title: z.string(),
  state: z.enum(["opened", "closed", "merged", "locked"]),
  draft: z.optional(z.boolean()),
  source_branch: z.string(),
  target_branch: z.string(),
  source_project_id: z.nullable(count),
  target_project_id: count,
  sha: z.nullable(commitId),
  merge_commit_sha: z.nullish(commitId),
  squash_commit_sha: z.nullish(commitId),
  has_conflicts: z.optional(z.boolean()),
  merge_status: z.optional(z.string()),
  detailed_merge_status: z.optional(z.string()),
  reviewers: z.optional(z.array(z.unknown())),
  references: z.object({ full: z.string() }),
  web_url: webAddress,
  updated_at: time,
  head_pipeline: z.nullish(pipelineShape),
});

const approvalsShape = z.object({
  approvals_required: z.nullish(z.int()),
  approvals_left: z.nullish(z.int()),
  approved_by: z.array(z.unknown()),
});

const reviewersShape = z.array(z.object({ state: z.string() }));

const jobsShape = z.array(
  z.object({
    name: z.string(),
    status: z.string(),
    allow_failure: z.optional(z.boolean()),
    web_url: z.nullish(webAddress),
  }),
);

const projectShape = z.object({ path_with_namespace: z.string() });

type Detail = z.infer<typeof detailShape>;

function stateOf(state: Detail["state"]): "open" | "closed" | "merged" {
  // Locked: it is being merged right now.
  return state === "opened" || state === "locked" ? "open" : state;
}

/** GitLab has not decided yet. */
const undecided = new Set(["checking", "unchecked", "preparing", "approvals_syncing", "cannot_be_merged_rechecking"]);

function conflictOf(detail: Detail): boolean | null {
  if (detail.has_conflicts === true || detail.detailed_merge_status === "conflict") return true;
  return undecided.has(detail.merge_status ?? "") ? null : false;
}

function mergeableOf(detail: Detail): boolean | null {
  const status = detail.detailed_merge_status ?? detail.merge_status ?? "";
  if (undecided.has(status)) return null;
  return status === "mergeable" || status === "can_be_merged";
}

function reviewOf(
  detail: Detail,
  given: z.infer<typeof approvalsShape>,
  states: z.infer<typeof reviewersShape>,
): ReviewState {
  const refused = states.some((one) => one.state === "requested_changes");
  if (refused || detail.detailed_merge_status === "requested_changes") return "changes_requested";
  const left = given.approvals_left ?? 0;
  if (left > 0) return "required";
  return given.approved_by.length > 0 ? "approved" : "none";
}

/** Adds the pipeline's own state if no job explains it: the cause is then in another project or service. */
export function checksOf(pipeline: z.infer<typeof pipelineShape>, found: z.infer<typeof jobsShape>): CheckFacts[] {
  const checks = found.map((job): CheckFacts => {
    const state = jobState(job.status);
    const counts = !(state === "failed" && job.allow_failure === true);
    return { name: plain(job.name), state: counts ? state : "skipped", url: job.web_url ?? null };
  });
  const state = jobState(pipeline.status);
  const isShown = checks.some((check) => check.state === state);
  if (checks.length === 0 || ((state === "failed" || state === "pending") && !isShown)) {
    checks.push({ name: "pipeline", state, url: pipeline.web_url ?? null });
  }
  return checks;
}

const jobStates = new Map<string, CheckState>([
  ["success", "passed"],
  ["failed", "failed"],
  ["canceled", "failed"],
  ["canceling", "failed"],
  // A manual job is started by a user; the pipeline does not wait for it.
  ["manual", "skipped"],
  ["skipped", "skipped"],
]);

const jobState = (status: string): CheckState => jobStates.get(status) ?? "pending";

/** Concurrent requests: fast, without looking like an attack. */
const atOnce = 6;
const perBranch = 5;

export class GitlabMergeRequests {
  readonly #client: GitlabClient;
  readonly #repo: string;
  readonly #memory = new Memory();
  /** Names of forks by their id. */
  readonly #projects = new Map<number, string>();
  #first = true;

  constructor(client: GitlabClient, repo: string) {
    this.#client = client;
    this.#repo = repo;
  }

  async ask(lookups: readonly PullRequestLookup[]): Promise<Map<string, TrackerResult<PullRequestFacts[]>>> {
    const { now } = this.#client.http.options.account;
    return await this.#memory.ask(
      lookups,
      now,
      () => this.#updates(),
      async (pending, updates, give) => {
        const asking = new Map<number, Promise<TrackerResult<PullRequestFacts>>>();
        await eachOf(pending, atOnce, async (lookup) => {
          give(lookup, await resultOf(async () => known(await this.#factsOf(lookup, updates, asking))));
        });
      },
    );
  }

  async one(number: number): Promise<TrackerResult<PullRequestFacts>> {
    const value = await this.#client.get(this.#repo, `/merge_requests/${number}`);
    if (value === null) return absent;
    return known(await this.#read(shaped(detailShape, value, "GitLab")));
  }

  /** The first list goes further back, to avoid one query per branch. */
  async #updates(): Promise<Updates | null> {
    const order = { state: "all", scope: "all", order_by: "updated_at", sort: "desc" };
    const answer = await this.#client.list(this.#repo, "/merge_requests", order, this.#first ? undefined : 1);
    if (answer === null) return null;
    this.#first = false;
    return { list: this.#list(answer.items), isComplete: answer.isComplete };
  }

  #list(items: unknown[]): Updated[] {
    return shaped(z.array(listedShape), items, "GitLab").map((one) => ({
      number: one.iid,
      branch: one.source_branch,
      headSha: one.sha ?? "",
      state: stateOf(one.state),
      updatedAt: Date.parse(one.updated_at),
    }));
  }

  async #factsOf(
    lookup: PullRequestLookup,
    { list, isComplete }: Updates,
    asking: Map<number, Promise<TrackerResult<PullRequestFacts>>>,
  ): Promise<PullRequestFacts[]> {
    let ofBranch = list.filter((one) => one.branch === lookup.branch);
    if (!isComplete && ofBranch.length === 0) {
      const query = { source_branch: lookup.branch, state: "all", scope: "all" };
      ofBranch = this.#list((await this.#client.list(this.#repo, "/merge_requests", query, 1))?.items ?? []);
    }
    const before = this.#memory.get(lookup)?.facts.map((fact) => fact.number) ?? [];
    const latest = ofBranch.map((one) => one.number).toSorted((a, b) => b - a);
    const numbers = new Set([...latest.slice(0, perBranch), ...lookup.numbers, ...before]);
    const facts: PullRequestFacts[] = [];
    for (const number of numbers) {
      const one = asking.get(number) ?? this.one(number);
      asking.set(number, one);
      const answer = await one;
      if (answer.is === "known") facts.push(answer.value);
    }
    return facts.toSorted((a, b) => b.number - a.number);
  }

  async #read(value: Detail): Promise<PullRequestFacts> {
    const state = stateOf(value.state);
    const [review, checks] = state === "open" ? await this.#live(value) : (["none", []] as const);
    return {
      repo: value.references.full.split("!")[0]!,
      number: value.iid,
      url: value.web_url,
      title: plain(value.title),
      state,
      draft: value.draft ?? false,
      headBranch: value.source_branch,
      headSha: value.sha ?? "",
      headRepo: await this.#nameOf(value),
      baseBranch: value.target_branch,
      checks: [...checks],
      review,
      conflict: state === "open" ? conflictOf(value) : false,
      mergeable: state === "open" ? mergeableOf(value) : false,
      mergeCommit: value.merge_commit_sha ?? value.squash_commit_sha ?? null,
      updatedAt: Date.parse(value.updated_at),
    };
  }

  /** Only for open merge requests: reviews and checks of closed ones do not matter. */
  async #live(value: Detail): Promise<[PullRequestFacts["review"], CheckFacts[]]> {
    const where = `/merge_requests/${value.iid}`;
    const approvals = await this.#client.get(this.#repo, `${where}/approvals`);
    const reviewers =
      (value.reviewers ?? []).length === 0 ? [] : await this.#client.get(this.#repo, `${where}/reviewers`);
    const review = reviewOf(
      value,
      approvals === null ? { approved_by: [] } : shaped(approvalsShape, approvals, "GitLab"),
      // Older instances do not have this endpoint.
      reviewers === null ? [] : shaped(reviewersShape, reviewers, "GitLab"),
    );
    const pipeline = value.head_pipeline;
    if (pipeline === null || pipeline === undefined) return [review, []];
    // A fork's pipeline runs in the fork.
    const at =
      pipeline.project_id === undefined || pipeline.project_id === value.target_project_id
        ? this.#repo
        : pipeline.project_id;
    const jobs = await this.#client.list(at, `/pipelines/${pipeline.id}/jobs`, {});
    return [review, checksOf(pipeline, shaped(jobsShape, jobs?.items ?? [], "GitLab"))];
  }

  async #nameOf(value: Detail): Promise<string | null> {
    const id = value.source_project_id;
    if (id === null) return null;
    if (id === value.target_project_id) return value.references.full.split("!")[0]!;
    const remembered = this.#projects.get(id);
    if (remembered !== undefined) return remembered;
    const answer = await this.#client.get(id, "");
    if (answer === null) return null;
    const name = shaped(projectShape, answer, "GitLab").path_with_namespace;
    this.#projects.set(id, name);
    return name;
  }
}
