/** One line per event, for logs. An event without a text of its own gets one from its type: "Turn started". */
import type { StoredEvent } from "../contract/event.ts";
import type { EndedHow, ExitStatus, Want } from "../contract/ids.ts";
import type { PullRequestFacts } from "../contract/tracker.ts";
import type { EventJson } from "../contract/stream.ts";
import { formatDuration } from "./duration.ts";
import { shorten } from "./text.ts";

/** Long enough for a sentence; the log shows the complete event on request. */
const longest = 240;

export function eventText(event: EventJson): string {
  return shorten((textOf(event) || plainText(event)).replace(/\s+/g, " ").trim(), longest);
}

/** The first part of the type, which the log's filter offers. */
export function eventGroup({ type }: EventJson): string {
  return type.split(".")[0] ?? type;
}

/** Who did it, as in "Renamed by you". */
export function actorLabel(by: string): string {
  if (by === "person" || by.startsWith("person:")) return "you";
  if (by === "agent") return "the agent itself";
  if (by === "machine") return "the machine";
  if (by.startsWith("session:")) return `session ${by.slice("session:".length)}`;
  return `the ${by} policy`;
}

/** How a session's agent ended, as a sentence. */
export function endText(how: string, exit: ExitStatus | null = null): string {
  const status =
    exit?.signal != null ? ` (signal ${exit.signal})` : exit?.code != null ? ` (exit status ${exit.code})` : "";
  const sentences: Record<string, string> & Record<EndedHow, string> = {
    "own-exit": `The agent exited on its own${status}.`,
    crash: `The agent crashed${status}.`,
    stopped: "Holdfast stopped the agent, as requested.",
    lost: "The agent was lost to a reboot or tmux crash.",
    "launch-failed": "The agent could not be started.",
  };
  return sentences[how] ?? `The agent exited: ${how}.`;
}

type Text<T> = (event: Extract<StoredEvent, { type: T }>) => string;
type Type = StoredEvent["type"];
/** Events whose only field is who did it; they need no text. */
type Plain<T> =
  Exclude<keyof Extract<StoredEvent, { type: T }>, "type" | "seq" | "at" | "by"> extends never ? T : never;
type Texts = { readonly [T in Exclude<Type, Plain<Type>>]: Text<T> } & { readonly [T in Type]?: Text<T> };

const texts: Texts = {
  "session.created": ({ title, by }) => `Created${byActor(by)}: ${title}`,
  "session.intent": ({ want, by }) => `${requests[want.want]} requested${byActor(by)}`,
  "session.renamed": ({ title, by }) => `Renamed${byActor(by)}: ${title}`,
  "session.copied": ({ original }) => `Left to the original home ${original}`,
  "session.converted": ({ kind, by }) => `Converted to ${kind}${byActor(by)}`,
  "workspace.ready": ({ path, branch }) => `Worktree ready at ${path} on ${branch}`,
  "workspace.output": ({ text }) => text,
  "workspace.trashed": ({ trash }) => `Worktree moved to the trash as ${trash}`,
  "workspace.restored": ({ path }) => `Worktree restored to ${path}`,
  "workspace.gone": ({ reason }) => `Worktree gone: ${reason}`,
  "workspace.failed": ({ reason }) => `Worktree could not be created: ${reason}`,
  "launch.started": ({ attempt, how }) => `Launch ${attempt} started (${how})`,
  "launch.up": () => "Agent started",
  "launch.adopted": () => "Reattached to the running agent",
  "launch.failed": ({ reason }) => `Launch failed: ${reason}`,
  "run.ended": ({ how, exit, uptimeMs }) => {
    const status = exit === null ? "" : exit.signal === null ? `, exit code ${exit.code}` : `, ${exit.signal}`;
    return `Exited (${how})${status}${uptimeMs === null ? "" : `, after ${formatDuration(uptimeMs)}`}`;
  },
  "conversation.pinned": ({ agentSessionId }) => `Conversation ${agentSessionId}`,
  "conversation.used": () => "Conversation started",
  "context.reset": ({ reason }) => `Conversation context reset: ${reason}`,
  "prompt.admitted": ({ text, by }) => `Prompt${byActor(by)}: ${text}`,
  "prompt.sending": () => "Sending prompt",
  "prompt.sent": ({ seenBy }) => `Prompt reached the agent${confirmations[seenBy] ?? `, confirmed by ${seenBy}`}`,
  "prompt.doubtful": ({ reason }) => `Prompt may not have arrived: ${reason}`,
  "prompt.requeued": ({ reason }) => `Prompt requeued: ${reason}`,
  "prompt.refused": ({ reason }) => `Prompt refused: ${reason}`,
  "prompt.withdrawn": ({ by }) => `Prompt withdrawn${byActor(by)}`,
  "prompt.edited": ({ text, by }) => `Prompt edited${byActor(by)}: ${text}`,
  "prompt.moved": ({ position, by }) => `Prompt moved to position ${position + 1}${byActor(by)}`,
  "primer.dismissed": ({ by }) => `Recap dismissed${byActor(by)}`,
  "turn.started": () => "Turn started",
  "turn.cancelling": ({ by }) => `Cancel requested${byActor(by)}`,
  "turn.ended": ({ stopReason, message }) => `Turn ended: ${[stopReason, message].filter(Boolean).join(", ")}`,
  "chat.opened": ({ agentSessionId, how }) => `Conversation ${agentSessionId} ${how === "new" ? "opened" : "reopened"}`,
  "agent.text": ({ text }) => text,
  "agent.thought": ({ text }) => text,
  "tool.updated": ({ title, status }) => [title, status].filter(Boolean).join(": "),
  "plan.updated": ({ entries }) => {
    const steps = entries as { content?: unknown; status?: unknown }[];
    const done = steps.filter(({ status }) => status === "completed").length;
    return `Plan, ${done} of ${steps.length} done: ${steps.map(({ content }) => String(content)).join("; ")}`;
  },
  "permission.asked": ({ title }) => `Asked: ${title}`,
  "permission.answered": ({ optionId, outcome, by, rule }) =>
    `Answered${rule === undefined ? byActor(by) : ` by rule ${rule.number} (${rule.text})`}: ${optionId ?? outcome}`,
  "mode.changed": ({ mode, by }) => `Mode set to ${mode}${byActor(by)}`,
  "model.changed": ({ model, by }) => `Model set to ${model}${byActor(by)}`,
  "config.changed": ({ picked, by }) =>
    picked === undefined ? "Agent settings changed" : `${picked.id} set to ${picked.value}${byActor(by)}`,
  "commands.changed": ({ commands }) => `The agent offers ${commands.length} commands`,
  "usage.updated": ({ usage }) => fieldsOf(usage),
  "auth.required": ({ message }) => `Sign-in required: ${message}`,
  "output.damaged": ({ what, bytes }) => `Agent output damaged: ${what}, ${bytes} bytes`,
  "activity.changed": ({ activity, source }) => `Activity: ${activity.replaceAll("_", " ")} (${source})`,
  notice: ({ text }) => text,
  "pull-request.seen": ({ pullRequest }) => pullRequestText(pullRequest),
  "pull-request.claimed": ({ url, by }) => `Pull request claimed${byActor(by)}: ${url}`,
  "pull-request.lost": ({ url, reason }) => `Pull request unlinked: ${reason} (${url})`,
  "issue.seen": ({ issue }) => `Issue ${issue.key} is ${issue.state}: ${issue.title}`,
  "reaction.fired": ({ reaction, action, why, attempt }) =>
    `Reaction ${reaction}: ${actions[action] ?? action}. ${why}${attempt > 1 ? ` Attempt ${attempt}.` : ""}`,
  "reaction.escalated": ({ reaction, why }) => `Reaction ${reaction}: escalated to you. ${why}`,
  "reaction.cleared": ({ reaction }) => `Reaction ${reaction}: resolved`,
  notification: ({ title, why }) => `Notified: ${title}. ${why}`,
  "notification.sent": ({ failed }) =>
    failed.length === 0
      ? "Notification sent"
      : `Notification not sent: ${failed.map(({ channel, why }) => `${channel}, ${why}`).join("; ")}`,
};

/** The table pairs each type with its own text, which the compiler cannot follow through an index. */
function textOf(event: EventJson): string | undefined {
  const text = Object.hasOwn(texts, event.type)
    ? (texts[event.type] as ((one: EventJson) => string) | undefined)
    : undefined;
  return text?.(event);
}

/** From the type and the fields: `session.pinned` is "Session pinned by you". */
function plainText({ by, ...event }: EventJson & { by?: string }): string {
  const [first = "", ...rest] = event.type.replaceAll(/[.-]/g, " ");
  const fields = fieldsOf(event);
  return `${first.toUpperCase()}${rest.join("")}${by === undefined ? "" : byActor(by)}${fields === "" ? "" : `: ${fields}`}`;
}

const requests: Record<Want["want"], string> = {
  running: "Start",
  stopped: "Stop",
  snoozed: "Snooze",
  archived: "Archive",
  killed: "Kill",
  deleted: "Delete",
};

/** How the daemon knows that a prompt arrived. */
const confirmations: Record<string, string> = {
  in: "",
  argument: "",
  hook: ", which confirmed it",
  transcript: ", which has it in its transcript",
  screen: "'s screen; this agent confirms nothing else",
};

const actions: Record<string, string> = {
  "send-to-agent": "messaged the agent",
  notify: "notified you",
  merge: "merged",
};

function byActor(by: string): string {
  return ` by ${actorLabel(by)}`;
}

function pullRequestText({ number, title, state, draft, checks, review, conflict }: PullRequestFacts): string {
  const count = (of: string): number => checks.filter((check) => check.state === of).length;
  const marks = [
    draft ? "a draft" : "",
    count("failed") > 0 ? `failed checks: ${count("failed")}` : "",
    count("pending") > 0 ? `pending checks: ${count("pending")}` : "",
    review === "none" ? "" : review === "required" ? "review required" : review.replaceAll("_", " "),
    conflict === true ? "conflicts" : "",
  ].filter((mark) => mark !== "");
  return `Pull request #${number} ${[state, ...marks].join(", ")}: ${title}`;
}

const shownElsewhere = new Set(["seq", "at", "type", "session"]);

function fieldsOf(event: object): string {
  return Object.entries(event)
    .filter(([name]) => !shownElsewhere.has(name))
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
