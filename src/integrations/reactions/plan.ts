/**
 * Plans the reactions of a session from facts and from earlier reactions. A condition is identified by its content
 * (`key`), so the same content triggers one reaction, however often it is checked.
 */
import {
  type ReactionHistory,
  type ReactionName,
  type ReactionSetting,
  type ReactionSettings,
  isOpen,
  reactionNames,
} from "../../contract/reaction.ts";
import type { SessionId, Status } from "../../contract/ids.ts";
import type { SessionState } from "../../model/session.ts";
import type { PullRequestFacts, ReviewThread } from "../../contract/tracker.ts";
import type { Observed } from "../../model/facts.ts";
import { isShell } from "../../model/roles.ts";
import { betweenTurns, conditionsOf, type Condition } from "./conditions.ts";

/** How often to try before the user is notified. */
export const defaultRetries = 2;
/** An agent that was prompted and then idle for this long is not going to act. */
export const unresponsiveAfterMs = 30 * 60_000;
/** The delay before a refused merge is tried again. */
const mergeAgainAfterMs = 60_000;

/** Defaults: the user is notified, and nothing else happens automatically. */
export const defaultReactions: ReactionSettings = {
  "approved-and-green": { action: "notify" },
  "needs-input": { action: "notify" },
  "turn-failed": { action: "notify" },
  exited: { action: "notify" },
};

export interface ReactionFacts {
  session: SessionState;
  /** Argv of its agent in a terminal: shells never trigger reactions, whatever their agent is called. */
  start?: readonly string[] | null;
  status: Status;
  /** The reason of the status. */
  reason?: string | null;
  /** Whether its latest turn failed and nothing has happened since. */
  turnFailed?: boolean;
  /** Sessions of the project that were lost together with this one and not restarted; only the last one announces them. */
  lostTogether?: readonly SessionId[] | "announced-by-another";
  /** When the tracker last confirmed the session's facts; null before it did. */
  polledAt: number | null;
  /** Open review threads by the pull request's address, if they were requested. */
  threads: ReadonlyMap<string, Observed<ReviewThread[]>>;
  /** The set of finished sessions that this one completes. */
  allDone: string | null;
}

export type ReactionStep =
  /** The threads of this pull request are needed first. */
  | { do: "ask-threads"; pullRequest: PullRequestFacts }
  | ({ do: "send"; attempt: number } & Fired)
  | ({ do: "notify"; attempt: number } & Fired)
  | ({ do: "merge"; attempt: number } & Fired)
  /** Notifies the user: the attempts did not help, or the agent cannot be messaged. */
  | ({ do: "escalate" } & Fired)
  | { do: "clear"; reaction: ReactionName };

export interface Fired {
  reaction: ReactionName;
  key: string;
  /** A complete sentence. */
  why: string;
  condition: Condition;
  setting: ReactionSetting;
}

export function planReactions(facts: ReactionFacts, configured: ReactionSettings, now: number): ReactionStep[] {
  const { want } = facts.session.intent;
  // Archived sessions are polled for cleanup only.
  if (want === "killed" || want === "deleted" || want === "archived" || isShell(facts.session, facts.start)) return [];
  return reactionNames.flatMap((reaction) => {
    const setting = settingOf(reaction, configured);
    if (setting === null) return [];
    const found = conditionsOf(reaction, facts, now);
    if (found.is === "unclear") return [];
    if (found.is === "ask") return [{ do: "ask-threads" as const, pullRequest: found.pullRequest }];
    const history = facts.session.reactions?.[reaction];
    if (found.conditions.length === 0) {
      return isOpen(history) && found.over ? [{ do: "clear" as const, reaction }] : [];
    }
    return found.conditions.flatMap((condition) => react(facts, { reaction, setting, condition, history }, now));
  });
}

export function settingOf(reaction: ReactionName, configured: ReactionSettings): ReactionSetting | null {
  const setting = configured[reaction] ?? defaultReactions[reaction];
  return setting === undefined || setting.enabled === false ? null : setting;
}

interface Case {
  reaction: ReactionName;
  setting: ReactionSetting;
  condition: Condition;
  history: ReactionHistory | undefined;
}

function react(facts: ReactionFacts, of: Case, now: number): ReactionStep[] {
  switch (of.setting.action) {
    case "notify":
      return isKnown(of) ? [] : [{ do: "notify", attempt: 1, ...fired(of) }];
    case "merge":
      if (!mayMerge(facts.session, of.condition)) return isKnown(of) ? [] : [unmerged(of)];
      return merge(of, now);
    case "send-to-agent":
      return send(facts, of, now);
    default:
      return of.setting.action satisfies never;
  }
}

function isKnown({ history, condition }: Case): boolean {
  return history?.keys.includes(condition.key) ?? false;
}

function send(facts: ReactionFacts, of: Case, now: number): ReactionStep[] {
  // Each set of finished sessions is a separate condition that nothing needs to resolve.
  const history = of.reaction === "all-done" ? undefined : of.history;
  const attempts = history?.attempts ?? 0;
  const escalated = history?.escalated ?? false;
  const deliverability = deliverabilityOf(facts, of.reaction);
  if (isKnown(of)) {
    const quietSince = Math.max(history?.at ?? 0, facts.session.lastActivityAt);
    const isUnresponsive =
      deliverability === "now" && attempts > 0 && !escalated && now - quietSince > unresponsiveAfterMs;
    return isUnresponsive ? [escalate(of, "The agent was prompted but has been idle since; nothing changed.")] : [];
  }
  if (deliverability === "later" || escalated) return [];
  if (deliverability === "never") return [escalate(of, whyNot(facts, of.reaction))];
  const budget = of.setting.retries ?? defaultRetries;
  if (attempts >= budget) {
    const times = attempts === 1 ? "once" : `${attempts} times`;
    return [escalate(of, attempts === 0 ? "" : `The agent was prompted ${times}; the problem persists.`)];
  }
  return [{ do: "send", attempt: attempts + 1, ...fired(of) }];
}

function whyNot({ session, status }: ReactionFacts, reaction: ReactionName): string {
  // A message cannot answer a permission request, so none was sent.
  if (reaction === "needs-input") return "";
  if (status === "running") return "The agent does not report when it is idle, so no message was sent.";
  if (reaction !== "all-done") return "The agent is not running, so no message was sent.";
  return session.role === "orchestrator"
    ? "The orchestrator is not running, so no message was sent."
    : "The project has no orchestrator to notify.";
}

/** Only pull requests from the session's own branch or claimed by the user: an agent may claim any that it finds. */
function mayMerge({ pullRequests = [], branch }: SessionState, { pullRequest }: Condition): boolean {
  const one = pullRequests.find(({ facts }) => facts.url === pullRequest?.url);
  if (one === undefined) return false;
  const isOwn = one.facts.headBranch === branch && one.facts.headRepo === one.facts.repo;
  return isOwn || !one.claimed || one.claimedBy === "person";
}

function unmerged(of: Case): ReactionStep {
  const why = `${of.condition.why} An agent claimed it, so Holdfast does not merge it automatically: merge it yourself.`;
  return { do: "notify", attempt: 1, ...fired(of), setting: { ...of.setting, action: "notify" }, why };
}

function merge(of: Case, now: number): ReactionStep[] {
  const { history } = of;
  const attempts = isKnown(of) ? (history?.attempts ?? 0) : 0;
  if (isKnown(of) && (history?.escalated === true || now - (history?.at ?? 0) < mergeAgainAfterMs)) return [];
  if (attempts >= (of.setting.retries ?? defaultRetries)) return [escalate(of, "The merge failed.")];
  return [{ do: "merge", attempt: attempts + 1, ...fired(of) }];
}

function fired({ reaction, setting, condition }: Case): Fired {
  return { reaction, key: condition.key, why: condition.why, condition, setting };
}

function escalate(of: Case, more: string): ReactionStep {
  const { condition } = of;
  return { do: "escalate", ...fired(of), why: [condition.why, more].filter((part) => part !== "").join(" ") };
}

/** A working agent may already be fixing it; one waiting for input would take the message as the answer. */
function deliverabilityOf({ session, status }: ReactionFacts, reaction: ReactionName): "now" | "later" | "never" {
  // A finished worker has nothing to do with it.
  if (reaction === "all-done" && session.role !== "orchestrator") return "never";
  if (betweenTurns.has(status)) return "now";
  // No message can answer a permission request.
  if (status === "needs_input") return reaction === "needs-input" ? "never" : "later";
  // The next prompt restarts it, as that policy promises.
  if (status === "stopped") return session.intent.by === "idle-stop" ? "now" : "never";
  if (status === "exited") return reaction === "exited" ? "now" : "never";
  // All others are permanently down, or `running`: that command reports nothing, and the message would wait forever.
  return busy.has(status) ? "later" : "never";
}

const busy: ReadonlySet<Status> = new Set<Status>(["starting", "working", "stuck", "unknown", "snoozed"]);
