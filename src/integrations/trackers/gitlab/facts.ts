/** A merge request as GitLab's REST API tells it, and what it means for us. */
import * as z from "zod/mini";
import type { CheckFacts, CheckState, ReviewState } from "../../../contract/tracker.ts";
import { commitId, count, time, webAddress } from "../asked.ts";
import { plain } from "../text.ts";

export const listed = z.object({
  iid: count,
  state: z.enum(["opened", "closed", "merged", "locked"]),
  source_branch: z.string(),
  sha: z.nullable(commitId),
  updated_at: time,
});

const pipeline = z.object({
  id: count,
  project_id: z.optional(count),
  status: z.string(),
  web_url: z.nullish(webAddress),
});

export const detail = z.object({
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
  head_pipeline: z.nullish(pipeline),
});

export const approvals = z.object({
  approvals_required: z.nullish(z.int()),
  approvals_left: z.nullish(z.int()),
  approved_by: z.array(z.unknown()),
});

export const reviewers = z.array(z.object({ state: z.string() }));

export const jobs = z.array(
  z.object({
    name: z.string(),
    status: z.string(),
    allow_failure: z.optional(z.boolean()),
    web_url: z.nullish(webAddress),
  }),
);

export const project = z.object({ path_with_namespace: z.string() });

export type Detail = z.infer<typeof detail>;

export function stateOf(state: Detail["state"]): "open" | "closed" | "merged" {
  // Locked: it is being merged this moment.
  return state === "opened" || state === "locked" ? "open" : state;
}

/** Still being found out. */
const undecided = new Set(["checking", "unchecked", "preparing", "approvals_syncing", "cannot_be_merged_rechecking"]);

export function conflictOf(told: Detail): boolean | null {
  if (told.has_conflicts === true || told.detailed_merge_status === "conflict") return true;
  return undecided.has(told.merge_status ?? "") ? null : false;
}

export function mergeableOf(told: Detail): boolean | null {
  const status = told.detailed_merge_status ?? told.merge_status ?? "";
  if (undecided.has(status)) return null;
  return status === "mergeable" || status === "can_be_merged";
}

export function reviewOf(
  told: Detail,
  given: z.infer<typeof approvals>,
  states: z.infer<typeof reviewers>,
): ReviewState {
  const refused = states.some((one) => one.state === "requested_changes");
  if (refused || told.detailed_merge_status === "requested_changes") return "changes_requested";
  const left = given.approvals_left ?? 0;
  if (left > 0) return "required";
  return given.approved_by.length > 0 ? "approved" : "none";
}

/** Where the pipeline as a whole says something that no job does (another project's, another service's), it is told. */
export function checksOf(told: z.infer<typeof pipeline>, found: z.infer<typeof jobs>): CheckFacts[] {
  const checks = found.map((job): CheckFacts => {
    const state = jobState(job.status);
    const counts = !(state === "failed" && job.allow_failure === true);
    return { name: plain(job.name), state: counts ? state : "skipped", url: job.web_url ?? null };
  });
  const whole = jobState(told.status);
  const isTold = checks.some((check) => check.state === whole);
  if (checks.length === 0 || ((whole === "failed" || whole === "pending") && !isTold)) {
    checks.push({ name: "pipeline", state: whole, url: told.web_url ?? null });
  }
  return checks;
}

function jobState(status: string): CheckState {
  switch (status) {
    case "success":
      return "passed";
    case "failed":
    case "canceled":
    case "canceling":
      return "failed";
    // It waits for somebody to press a button, and the pipeline does not wait for it.
    case "manual":
    case "skipped":
      return "skipped";
    default:
      return "pending";
  }
}
