/**
 * What is done by itself about what happened to a session: facts and what was done before go in, steps come out. What is
 * reacted to is told by its content (`key`), so the same content is reacted to once, however often it is looked at.
 */
import {
  type ReactionHistory,
  type ReactionName,
  type ReactionSetting,
  type ReactionSettings,
  isOpen,
  reactionNames,
} from "../../contract/reaction.ts";
import type { SessionId } from "../../contract/ids.ts";
import type { SessionState, Status } from "../../model/session.ts";
import type { PullRequestFacts, ReviewThread } from "../../contract/tracker.ts";
import type { Observed } from "../../model/facts.ts";
import { isShell } from "../../model/roles.ts";
import { troublesOf, type Trouble } from "./conditions.ts";

/** How often to try before a person is told. */
export const defaultRetries = 2;
/** An agent that was told and has been idle for so long has not understood, or does not want to. */
export const unheardAfterMs = 30 * 60_000;
/** A merge that was refused is not asked for again within the same breath. */
const mergeAgainAfterMs = 60_000;

/** What holds where a project's file is silent: people are told, and nothing else happens by itself. */
export const defaultReactions: ReactionSettings = {
  "approved-and-green": { action: "notify" },
  "needs-input": { action: "notify" },
  "turn-failed": { action: "notify" },
  exited: { action: "notify" },
};

export interface ReactionFacts {
  session: SessionState;
  /** Argv of its agent in a terminal: a shell is never reacted to, whatever its agent is called. */
  start?: readonly string[] | null;
  status: Status;
  /** Why the status is what it is. */
  reason?: string | null;
  /** Whether its latest turn failed and nothing has happened since. */
  turnFailed?: boolean;
  /** Sessions of the project that were lost together with this one and not restarted; only the last one announces them. */
  lostTogether?: readonly SessionId[] | "announced-by-another";
  /** When the tracker last confirmed the session's facts; null before it did. */
  heardAt: number | null;
  /** Open review threads by the pull request's address, where they were asked for. */
  threads: ReadonlyMap<string, Observed<ReviewThread[]>>;
  /** The set of finished sessions that this one completes. */
  allDone: string | null;
}

export type ReactionStep =
  /** Nothing can be decided about this pull request before its threads are known. */
  | { do: "ask-threads"; pullRequest: PullRequestFacts }
  | ({ do: "send"; attempt: number } & Fired)
  | ({ do: "notify"; attempt: number } & Fired)
  | ({ do: "merge"; attempt: number } & Fired)
  /** To a person: what was tried did not help, or nobody is there to hear it. */
  | ({ do: "escalate" } & Fired)
  | { do: "clear"; reaction: ReactionName };

export interface Fired {
  reaction: ReactionName;
  key: string;
  /** A whole sentence. */
  why: string;
  trouble: Trouble;
  setting: ReactionSetting;
}

export function planReactions(facts: ReactionFacts, configured: ReactionSettings, now: number): ReactionStep[] {
  const { want } = facts.session.intent;
  // What was put away is asked about for the sake of cleanup; nobody wants to hear of it.
  if (want === "killed" || want === "deleted" || want === "archived" || isShell(facts.session, facts.start)) return [];
  return reactionNames.flatMap((reaction) => {
    const setting = settingOf(reaction, configured);
    if (setting === null) return [];
    const found = troublesOf(reaction, facts, now);
    if (found.is === "unclear") return [];
    if (found.is === "ask") return [{ do: "ask-threads" as const, pullRequest: found.pullRequest }];
    const history = facts.session.reactions?.[reaction];
    if (found.troubles.length === 0) {
      return isOpen(history) && found.over ? [{ do: "clear" as const, reaction }] : [];
    }
    return found.troubles.flatMap((trouble) => react(facts, { reaction, setting, trouble, history }, now));
  });
}

export function settingOf(reaction: ReactionName, configured: ReactionSettings): ReactionSetting | null {
  const setting = configured[reaction] ?? defaultReactions[reaction];
  return setting === undefined || setting.enabled === false ? null : setting;
}

interface Case {
  reaction: ReactionName;
  setting: ReactionSetting;
  trouble: Trouble;
  history: ReactionHistory | undefined;
}

function react(facts: ReactionFacts, of: Case, now: number): ReactionStep[] {
  switch (of.setting.action) {
    case "notify":
      return isKnown(of) ? [] : [{ do: "notify", attempt: 1, ...fired(of) }];
    case "merge":
      if (!mayMerge(facts.session, of.trouble)) return isKnown(of) ? [] : [unmerged(of)];
      return merge(of, now);
    case "send-to-agent":
      return send(facts, of, now);
    default:
      return of.setting.action satisfies never;
  }
}

function isKnown({ history, trouble }: Case): boolean {
  return history?.keys.includes(trouble.key) ?? false;
}

function send(facts: ReactionFacts, of: Case, now: number): ReactionStep[] {
  // Each set of finished sessions is a matter of its own, and nothing has to follow from it.
  const history = of.reaction === "all-done" ? undefined : of.history;
  const attempts = history?.attempts ?? 0;
  const escalated = history?.escalated ?? false;
  const ear = earOf(facts, of.reaction);
  if (isKnown(of)) {
    const quietSince = Math.max(history?.at ?? 0, facts.session.lastActivityAt);
    const unheard = ear === "now" && attempts > 0 && !escalated && now - quietSince > unheardAfterMs;
    return unheard ? [escalate(of, "The agent was told and has been idle since, and nothing has changed.")] : [];
  }
  if (ear === "later" || escalated) return [];
  if (ear === "never") return [escalate(of, whyNot(facts, of.reaction))];
  const budget = of.setting.retries ?? defaultRetries;
  if (attempts >= budget) {
    return [
      escalate(
        of,
        attempts === 0 ? "" : `The agent was told ${attempts === 1 ? "once" : `${attempts} times`} and it is not over.`,
      ),
    ];
  }
  return [{ do: "send", attempt: attempts + 1, ...fired(of) }];
}

function whyNot({ session, status }: ReactionFacts, reaction: ReactionName): string {
  // A question cannot be answered by a message, so there was nothing to tell the agent.
  if (reaction === "needs-input") return "";
  if (status === "running") return "Its agent does not report when it is idle, so it was not prompted.";
  if (reaction !== "all-done") return "Its agent is not running, so it was not told.";
  return session.role === "orchestrator"
    ? "The orchestrator is not running, so it was not told."
    : "The project has no orchestrator that could be told.";
}

/** What the session's own branch made, or a person gave to it: an agent may claim any pull request that it finds. */
function mayMerge({ pullRequests = [], branch }: SessionState, { pullRequest }: Trouble): boolean {
  const one = pullRequests.find(({ facts }) => facts.url === pullRequest?.url);
  if (one === undefined) return false;
  const isOwn = one.facts.headBranch === branch && one.facts.headRepo === one.facts.repo;
  return isOwn || !one.claimed || one.claimedBy === "person";
}

function unmerged(of: Case): ReactionStep {
  const why = `${of.trouble.why} An agent claimed it, so it is not merged automatically: merge it yourself.`;
  return { do: "notify", attempt: 1, ...fired(of), setting: { ...of.setting, action: "notify" }, why };
}

function merge(of: Case, now: number): ReactionStep[] {
  const { history } = of;
  const attempts = isKnown(of) ? (history?.attempts ?? 0) : 0;
  if (isKnown(of) && (history?.escalated === true || now - (history?.at ?? 0) < mergeAgainAfterMs)) return [];
  if (attempts >= (of.setting.retries ?? defaultRetries)) return [escalate(of, "It could not be merged.")];
  return [{ do: "merge", attempt: attempts + 1, ...fired(of) }];
}

function fired({ reaction, setting, trouble }: Case): Fired {
  return { reaction, key: trouble.key, why: trouble.why, trouble, setting };
}

function escalate(of: Case, more: string): ReactionStep {
  const { trouble } = of;
  return { do: "escalate", ...fired(of), why: [trouble.why, more].filter((part) => part !== "").join(" ") };
}

/** Who works may be mending it already, and who asks would take the message for the answer. */
function earOf({ session, status }: ReactionFacts, reaction: ReactionName): "now" | "later" | "never" {
  // What a worker would do with it nobody knows: it has finished.
  if (reaction === "all-done" && session.role !== "orchestrator") return "never";
  switch (status) {
    case "idle":
    case "pr_open":
    case "ci_failed":
    case "review_pending":
    case "changes_requested":
    case "approved":
    case "mergeable":
    case "merged":
      return "now";
    // A question is for a person; nothing that is sent could answer it.
    case "needs_input":
      return reaction === "needs-input" ? "never" : "later";
    case "starting":
    case "working":
    case "stuck":
    case "unknown":
    case "snoozed":
      return "later";
    case "stopped":
      // The next prompt brings it back, which is what that policy promises.
      return session.intent.by === "idle-stop" ? "now" : "never";
    case "exited":
      return reaction === "exited" ? "now" : "never";
    // A command that reports nothing never becomes idle, so a message would wait forever.
    case "running":
    case "failed":
    case "archived":
    case "done":
    case "killed":
      return "never";
    default:
      return status satisfies never;
  }
}
