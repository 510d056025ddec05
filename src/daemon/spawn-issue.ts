/** The issue that a session is started for, read from its tracker where there is one. */
import { issueKey } from "../core/issue-reference.ts";
import { issuePrompt, issueTitle } from "../core/issue-prompt.ts";
import type { ProjectSettings } from "../ports/projects.ts";
import type { SpawnRequest } from "../protocol/command.ts";
import { HoldfastError } from "../protocol/error.ts";
import type { SessionEvent } from "../protocol/event.ts";
import type { TrackingDoor } from "./tracking-door.ts";

export interface SpawnIssue {
  /** As it goes on record; null without an issue. */
  key: string | null;
  title: string | null;
  prompt: string | null;
  events: SessionEvent[];
}

export async function readIssue(
  door: TrackingDoor,
  settings: ProjectSettings,
  request: SpawnRequest,
): Promise<SpawnIssue> {
  const own = request.prompt === undefined || request.prompt === "" ? null : request.prompt;
  const { issue = null, role = "worker" } = request;
  const plain = { key: issue, title: null, prompt: own, events: [] };
  const { tracker } = settings;
  // A word of the person's own is not looked up: no tracker has an issue of that name.
  if (issue === null || tracker === null || role !== "worker" || issueKey(issue) === null) return plain;
  const answer = await (await door.open()).ask(tracker, (asked) => asked.issue(issue));
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
  return { ...plain, key: issueKey(issue), events: [{ type: "notice", level: "warn", text }] };
}
