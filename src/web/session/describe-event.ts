/** One event in one line, for the log. */
import type { EventJson } from "../../protocol/wire.ts";
import { actorWords, spanWords } from "./words.ts";

/** Long enough for a sentence; the whole event is a press away. */
const longest = 240;

export function describeEvent(event: EventJson): string {
  const line = known(event) ?? bare(event);
  const flat = line.replace(/\s+/g, " ").trim();
  return flat.length > longest ? `${flat.slice(0, longest)}…` : flat;
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
    case "session.converted":
      return `Made a ${text("kind")} session${by}`;
    case "workspace.ready":
      return `Worktree ready at ${text("path")} on ${text("branch")}`;
    case "workspace.trashed":
      return `Worktree moved to the trash as ${text("trash")}`;
    case "workspace.restored":
      return `Worktree back at ${text("path")}`;
    case "launch.started":
      return `Launch ${String(event["attempt"])} started (${text("how")})`;
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
    case "notification":
      return `Notified: ${text("text") || text("title")}`;
    case "reaction.fired":
      return `Reaction ${text("reaction")} (${text("action")}): ${text("why")}`;
    case "turn.ended":
      return `Turn ended: ${text("stopReason")}`;
    case "permission.asked":
      return `Asked: ${text("title")}`;
    case "activity.changed":
      return `Seen ${text("activity").replaceAll("_", " ")} (${text("source")})`;
    default:
      return null;
  }
}

/** Events that came live also name their session, which stands above already. */
function bare({ seq: _seq, at: _at, type: _type, session: _session, ...data }: EventJson): string {
  return Object.entries(data)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
