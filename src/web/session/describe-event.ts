/** One event in one line, for the log. */
import type { PullRequestFacts } from "../../contract/tracker.ts";
import type { EventJson } from "../../contract/wire.ts";
import { shorten } from "../../model/text.ts";
import { actorWords, spanWords } from "./words.ts";

/** Long enough for a sentence; the whole event is a press away. */
const longest = 240;

export function describeEvent(event: EventJson): string {
  const line = known(event) ?? bare(event);
  const flat = line.replace(/\s+/g, " ").trim();
  return shorten(flat, longest);
}

/** Which permission rule answered; null where a person did. */
function ruleWords(event: EventJson): string | null {
  const rule = event["rule"] as { number?: unknown; text?: unknown } | undefined;
  return typeof rule?.number === "number" ? ` by rule ${rule.number} (${String(rule.text)})` : null;
}

/** The first part of the type: what the filter offers. */
export function groupOf(event: EventJson): string {
  return event.type.split(".")[0] ?? event.type;
}

function known(event: EventJson): string | null {
  const text = (name: string): string => {
    const value = event[name];
    return typeof value === "string" ? value : "";
  };
  const by = typeof event["by"] === "string" ? ` by ${actorWords(event["by"])}` : "";
  switch (event.type) {
    case "session.created":
      return `Created${by}: ${text("title")}`;
    case "session.intent":
      return `Wanted ${(event["want"] as { want?: string } | undefined)?.want ?? "?"}${by}`;
    case "session.renamed":
      return `Renamed${by}: ${text("title")}`;
    case "session.copied":
      return `Left to the original home ${text("original")}`;
    case "session.converted":
      return `Made a ${text("kind")} session${by}`;
    case "workspace.ready":
      return `Worktree ready at ${text("path")} on ${text("branch")}`;
    case "workspace.trashed":
      return `Worktree moved to the trash as ${text("trash")}`;
    case "workspace.gone":
      return `Worktree gone: ${text("reason")}`;
    case "workspace.failed":
      return `Worktree could not be created: ${text("reason")}`;
    case "workspace.restored":
      return `Worktree back at ${text("path")}`;
    case "launch.started":
      return `Launch ${String(event["attempt"])} started (${text("how")})`;
    case "launch.up":
      return "Agent started";
    case "launch.adopted":
      return "Agent found at work and followed again";
    case "launch.failed":
      return `Launch failed: ${text("reason")}`;
    case "run.ended": {
      const exit = event["exit"] as { code: number | null; signal: string | null } | null;
      const status = exit === null ? "" : exit.signal === null ? `, exit code ${exit.code}` : `, ${exit.signal}`;
      const uptime = typeof event["uptimeMs"] === "number" ? `, after ${spanWords(event["uptimeMs"])}` : "";
      return `Ended (${text("how")})${status}${uptime}`;
    }
    case "context.reset":
      return `Conversation context reset: ${text("reason")}`;
    case "prompt.admitted":
      return `Prompt${by}: ${text("text")}`;
    case "prompt.sending":
      return "Prompt on its way to the agent";
    case "prompt.sent":
      return `Prompt reached the agent${seenWords[text("seenBy")] ?? `, seen by ${text("seenBy")}`}`;
    case "prompt.doubtful":
      return `Prompt may not have arrived: ${text("reason")}`;
    case "prompt.requeued":
      return `Prompt waits again: ${text("reason")}`;
    case "prompt.refused":
      return `Prompt refused: ${text("reason")}`;
    case "prompt.withdrawn":
      return `Prompt taken back${by}`;
    case "prompt.edited":
      return `Prompt changed${by}: ${text("text")}`;
    case "prompt.moved":
      return `Prompt moved to place ${Number(event["position"]) + 1}${by}`;
    case "primer.dismissed":
      return `Recap put away${by}`;
    case "conversation.pinned":
      return `Conversation ${text("agentSessionId")}`;
    case "conversation.used":
      return "Conversation begun";
    case "chat.opened":
      return `Conversation ${text("agentSessionId")} ${text("how") === "new" ? "opened" : "opened again"}`;
    case "agent.text":
    case "agent.thought":
    case "notice":
    case "workspace.output":
      return text("text");
    case "tool.updated":
      return [text("title"), text("status")].filter(Boolean).join(": ") || null;
    case "turn.started":
      return "Turn started";
    case "plan.updated": {
      const entries = Array.isArray(event["entries"])
        ? (event["entries"] as { content?: unknown; status?: unknown }[])
        : [];
      const done = entries.filter(({ status }) => status === "completed").length;
      return `Plan, ${done} of ${entries.length} done: ${entries.map(({ content }) => String(content)).join("; ")}`;
    }
    case "turn.cancelling":
      return `Agent asked to end the turn${by}`;
    case "turn.ended":
      return `Turn ended: ${[text("stopReason"), text("message")].filter(Boolean).join(", ")}`;
    case "permission.asked":
      return `Asked: ${text("title")}`;
    case "permission.answered":
      return `Answered${ruleWords(event) ?? by}: ${text("optionId") || text("outcome")}`;
    case "mode.changed":
      return `Mode set to ${text("mode")}${by}`;
    case "model.changed":
      return `Model set to ${text("model")}${by}`;
    case "auth.required":
      return `Sign-in wanted: ${text("message")}`;
    case "activity.changed":
      return `Seen ${text("activity").replaceAll("_", " ")} (${text("source")})`;
    case "pull-request.seen":
      return pullRequestWords(event["pullRequest"] as PullRequestFacts);
    case "pull-request.claimed":
      return `Pull request claimed${by}: ${text("url")}`;
    case "pull-request.lost":
      return `Pull request no longer counted: ${text("reason")} (${text("url")})`;
    case "issue.seen": {
      const { key, title, state } = event["issue"] as { key: string; title: string; state: string };
      return `Issue ${key} is ${state}: ${title}`;
    }
    case "reaction.fired":
      return `Reaction ${text("reaction")}: ${actionWords[text("action")] ?? text("action")}. ${text("why")}${
        Number(event["attempt"]) > 1 ? ` Attempt ${String(event["attempt"])}.` : ""
      }`;
    case "reaction.escalated":
      return `Reaction ${text("reaction")}: a person is told. ${text("why")}`;
    case "reaction.cleared":
      return `Reaction ${text("reaction")}: what it was about is over`;
    case "notification":
      return `Notified: ${text("title")}. ${text("why")}`;
    case "notification.sent": {
      const failed = event["failed"] as { channel: string; why: string }[];
      return failed.length === 0
        ? "Notification sent"
        : `Notification not sent: ${failed.map(({ channel, why }) => `${channel}, ${why}`).join("; ")}`;
    }
    default:
      return null;
  }
}

/** How the daemon knows that a prompt arrived; its place in the agent's input and its arguments need no words. */
const seenWords: Record<string, string> = {
  in: "",
  argument: "",
  hook: ", which confirmed it",
  transcript: ", which has it in its transcript",
  screen: "'s screen, which is all that this agent shows of it",
};

const actionWords: Record<string, string> = {
  "send-to-agent": "the agent is told",
  notify: "a person is told",
  merge: "it is merged",
};

function pullRequestWords({ number, title, state, draft, checks, review, conflict }: PullRequestFacts): string {
  const count = (of: string): number => checks.filter((check) => check.state === of).length;
  const marks = [
    draft ? "a draft" : "",
    count("failed") > 0 ? `failed checks: ${count("failed")}` : "",
    count("pending") > 0 ? `pending checks: ${count("pending")}` : "",
    review === "none" ? "" : review === "required" ? "review wanted" : review.replaceAll("_", " "),
    conflict === true ? "conflicts" : "",
  ].filter((mark) => mark !== "");
  return `Pull request #${number} ${[state, ...marks].join(", ")}: ${title}`;
}

/** Events that came live also name their session, which stands above already. */
function bare({ seq: _seq, at: _at, type: _type, session: _session, ...data }: EventJson): string {
  return Object.entries(data)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
