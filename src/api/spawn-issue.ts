/** The issue that a session is started for, read from its tracker where there is one. */
import { inTeam, isPullRequestReference, issueKey, teamOf, issuePrompt, issueTitle } from "../model/issue.ts";
import { oneLine, quoteShellWord } from "../model/text.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { SpawnRequest } from "../contract/spawn.ts";
import { HoldfastError } from "../contract/errors.ts";
import type { FactEvent } from "../contract/event.ts";
import type { LazyTracking } from "../integrations/trackers/lazy-tracking.ts";

export interface SpawnIssue {
  /** As it goes on record; null without an issue. */
  key: string | null;
  title: string | null;
  prompt: string | null;
  events: FactEvent[];
}

export async function readIssue(
  door: LazyTracking,
  settings: ProjectSettings,
  request: SpawnRequest,
): Promise<SpawnIssue> {
  const own = request.prompt === undefined || request.prompt === "" ? null : request.prompt;
  const { issue = null, role = "worker" } = request;
  const plain = { key: issue, title: null, prompt: own, events: [] };
  const { tracker } = settings;
  if (issue !== null && isPullRequestReference(issue)) throw await noIssue(door, settings, issue);
  // A word of the person's own is not looked up: no tracker has an issue of that name.
  if (issue === null || tracker === null || role !== "worker" || issueKey(issue) === null) return plain;
  const answer = await (await door.open()).query(tracker, (one) => one.issue(issue));
  if (answer.is === "known" && answer.value.isPullRequest === true) throw await noIssue(door, settings, issue);
  if (answer.is === "known") {
    const { body: _, ...seen } = answer.value;
    return {
      key: answer.value.key,
      title: issueTitle(answer.value),
      prompt: issuePrompt(answer.value, own),
      events: [{ type: "issue.seen", issue: seen }],
    };
  }
  const why =
    answer.is === "absent"
      ? `${tracker.repo} has no issue ${issue}, or its token may not see it.`
      : `Issue ${issue} could not be read from ${tracker.type} ${tracker.repo}: ${answer.why}`;
  if (own === null) {
    const absent = answer.is === "absent";
    const next = absent ? "Check the number" : "See `holdfast doctor`";
    throw new HoldfastError(absent ? "not-found" : "preflight-failed", why, {
      hint: `${next}, or give the task yourself with --prompt. Nothing was created.`,
    });
  }
  const text = `${why} The session was started with the prompt alone.`;
  const team = teamOf(tracker);
  return { ...plain, key: inTeam(issueKey(issue), team), events: [{ type: "notice", level: "warn", text }] };
}

/** A pull request has its work and its branch already: whoever names one wants to go on with that, not to begin anew. */
async function noIssue(door: LazyTracking, settings: ProjectSettings, reference: string): Promise<HoldfastError> {
  const { id, codeHost } = settings;
  const answer =
    codeHost === null
      ? null
      : await (
          await door.open()
        ).query(codeHost, async ({ host }) => (await host?.pullRequest(reference)) ?? { is: "absent" });
  const facts = answer?.is === "known" ? answer.value : null;
  const kind = (codeHost?.type ?? reference).includes("gitlab") ? "merge request" : "pull request";
  const name = facts === null ? reference : `${facts.url} (${oneLine(facts.title, 80)})`;
  // A fork's is not to be had from here, and what is to be pasted must be harmless.
  const isOurs = facts !== null && facts.headRepo === facts.repo && /^[\w./-]+$/.test(facts.headBranch);
  const branch = isOurs ? facts.headBranch : null;
  const steps = [
    "Nothing was created.",
    branch === null
      ? `To go on with it, fetch its branch and run \`holdfast spawn ${id} --branch <branch> --prompt "…"\`.`
      : `To go on with it: \`git fetch origin ${branch}\`, then \`holdfast spawn ${id} --branch ${branch} --prompt "…"\`.`,
    `To give it to a session that is there: \`holdfast session claim-pr <session> ${facts?.number ?? quoteShellWord(reference)}\`.`,
  ];
  return new HoldfastError("invalid", `${name} is a ${kind}, not an issue.`, { hint: steps.join(" ") });
}
