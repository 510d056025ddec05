/** Reads the issue of a new session from its tracker, if it has one. */
import { inTeam, isPullRequestReference, issueKey, teamOf, issuePrompt, issueTitle } from "../model/issue.ts";
import { oneLine, quoteShellWord } from "../model/text.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { SpawnRequest } from "../contract/spawn.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { FactEvent } from "../contract/event.ts";
import type { LazyTracking } from "../integrations/trackers/lazy-tracking.ts";

export interface SpawnIssue {
  /** As recorded; null without an issue. */
  key: string | null;
  title: string | null;
  prompt: string | null;
  events: FactEvent[];
}

export async function readIssue(
  tracking: LazyTracking,
  settings: ProjectSettings,
  request: SpawnRequest,
): Promise<SpawnIssue> {
  const own = request.prompt === undefined || request.prompt === "" ? null : request.prompt;
  const { issue = null, role = "worker" } = request;
  const plain = { key: issue, title: null, prompt: own, events: [] };
  const { tracker } = settings;
  if (issue !== null && isPullRequestReference(issue)) throw await noIssue(tracking, settings, issue);
  // Any other name is the user's own: no tracker has such an issue.
  if (issue === null || tracker === null || role !== "worker" || issueKey(issue) === null) return plain;
  const found = await (await tracking.open()).query(tracker, (one) => one.issue(issue));
  if (found.is === "known" && found.value.isPullRequest === true) throw await noIssue(tracking, settings, issue);
  if (found.is === "known") {
    const { body: _, ...seen } = found.value;
    return {
      key: found.value.key,
      title: issueTitle(found.value),
      prompt: issuePrompt(found.value, own),
      events: [{ type: "issue.seen", issue: seen }],
    };
  }
  const why =
    found.is === "absent"
      ? `${tracker.repo} has no issue ${issue}, or its token may not see it.`
      : `Issue ${issue} could not be read from ${tracker.type} ${tracker.repo}: ${found.why}`;
  if (own === null) {
    const absent = found.is === "absent";
    const next = absent ? "Check the number" : "See `holdfast doctor`";
    throw new HoldfastError(absent ? "not-found" : "preflight-failed", why, {
      hint: `${next}, or give the task yourself with --prompt. Nothing was created.`,
    });
  }
  const text = `${why} The session was started with the prompt alone.`;
  const team = teamOf(tracker);
  return { ...plain, key: inTeam(issueKey(issue), team), events: [{ type: "notice", level: "warn", text }] };
}

/** A pull request already has a branch: the user wants to continue it, not to start over. */
async function noIssue(tracking: LazyTracking, settings: ProjectSettings, reference: string): Promise<HoldfastError> {
  const { id, codeHost } = settings;
  const found = await tracking
    .open()
    .then((trackers) =>
      codeHost === null
        ? null
        : trackers.query(codeHost, async ({ host }) => host?.pullRequest(reference) ?? { is: "absent" }),
    );
  const facts = found?.is === "known" ? found.value : null;
  const kind = (codeHost?.type ?? reference).includes("gitlab") ? "merge request" : "pull request";
  const name = facts === null ? reference : `${facts.url} (${oneLine(facts.title, 80)})`;
  // A fork's branch cannot be fetched from here, and a command to paste must be harmless.
  const isOurs = facts !== null && facts.headRepo === facts.repo && /^[\w./-]+$/.test(facts.headBranch);
  const branch = isOurs ? facts.headBranch : null;
  const steps = [
    "Nothing was created.",
    branch === null
      ? `To continue it, fetch its branch and run \`holdfast spawn ${id} --branch <branch> --prompt "…"\`.`
      : `To continue it: \`git fetch origin ${branch}\`, then \`holdfast spawn ${id} --branch ${branch} --prompt "…"\`.`,
    `To link it to an existing session: \`holdfast session claim-pr <session> ${facts?.number ?? quoteShellWord(reference)}\`.`,
  ];
  return new HoldfastError("invalid", `${name} is a ${kind}, not an issue.`, { hint: steps.join(" ") });
}
