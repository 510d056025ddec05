/**
 * Which verb is legal in which state, and the events it writes. The only way an intent changes; the events are written
 * before anything is done. `killed` is left by a person's restore alone, `deleted` by nothing.
 */
import type { ErrorCode } from "../protocol/error.ts";
import type { Attachment, SessionEvent } from "../protocol/event.ts";
import type { PromptId } from "../protocol/ids.ts";
import { isOpen, reactionActor } from "../protocol/reaction.ts";
import type { Actor, IntentName, SessionState, Want } from "../protocol/session.ts";
import { restOf } from "./runs.ts";

export type Verb =
  | { verb: "stop" | "wake" | "archive" | "unarchive" | "kill" | "delete" | "restore" }
  | { verb: "snooze"; until: number }
  | { verb: "rename"; title: string }
  | { verb: "prompt"; promptId: PromptId; text: string; attachments?: Attachment[] };

export interface VerbContext {
  by: Actor;
  /** What was observed of the session's agent: restore refuses unless it is down. */
  agent: "alive" | "down" | { unknown: string };
  /** Whether the worktree can be had: in place, or in the trash. Left out where that was not looked at. */
  workspaceMissing?: boolean;
}

export type VerbAnswer =
  | { ok: true; events: SessionEvent[] }
  | { ok: false; code: ErrorCode; message: string; hint: string | null };

/** @param state null for a session that does not exist. */
export function applyVerb(state: SessionState | null, verb: Verb, context: VerbContext): VerbAnswer {
  if (state === null || state.intent.want === "deleted") {
    return refuse("not-found", "Session not found", "See what there is: holdfast session ls --include-terminated");
  }
  switch (verb.verb) {
    case "stop":
      // An archived session is down already; it stays put away.
      return change(state, context, { want: "stopped" }, ["stopped", "archived"], "stop");
    case "archive":
      return change(state, context, { want: "archived" }, ["archived"], "archive");
    case "snooze":
      return change(state, context, { want: "snoozed", until: verb.until }, [], "snooze");
    case "kill":
      return state.intent.want === "killed" ? nothing : intend({ want: "killed" }, context);
    case "delete":
      return intend({ want: "deleted" }, context);
    case "wake":
      return back(state, context, "snoozed", "wake");
    case "unarchive":
      return back(state, context, "archived", "unarchive");
    case "restore":
      return restore(state, context);
    case "rename":
      return verb.title === state.title
        ? nothing
        : { ok: true, events: [{ type: "session.renamed", title: verb.title, by: context.by }] };
    case "prompt":
      return admit(state, verb, context);
    default:
      verb satisfies never;
      throw new Error("unknown verb");
  }
}

const nothing: VerbAnswer = { ok: true, events: [] };

function refuse(code: ErrorCode, message: string, hint: string | null): VerbAnswer {
  return { ok: false, code, message, hint };
}

function intend(want: Want, { by }: VerbContext): VerbAnswer {
  return { ok: true, events: [{ type: "session.intent", want, by }] };
}

function change(
  state: SessionState,
  context: VerbContext,
  want: Want,
  already: IntentName[],
  verb: string,
): VerbAnswer {
  if (state.intent.want === "killed") return wasKilled(state, `Cannot ${verb}: Session was killed`);
  return already.includes(state.intent.want) ? nothing : intend(want, context);
}

function back(state: SessionState, context: VerbContext, from: "snoozed" | "archived", verb: string): VerbAnswer {
  const { want } = state.intent;
  if (want === from) return missing(state, context) ?? intend({ want: "running" }, context);
  if (want === "killed") return wasKilled(state, `Cannot ${verb}: Session was killed`);
  return refuse("conflict", `Cannot ${verb}: Session is not ${from}`, want === "running" ? null : wayBack(state));
}

function restore(state: SessionState, context: VerbContext): VerbAnswer {
  const { want } = state.intent;
  if (want === "running") {
    if (context.agent === "alive") {
      return refuse(
        "conflict",
        "Cannot restore: Session is still running",
        `Attach to it: holdfast attach ${state.id}`,
      );
    }
    // Two agents in one worktree would be worse than a refusal.
    if (context.agent !== "down") {
      return refuse(
        "conflict",
        `Cannot restore: Session could not be observed (${context.agent.unknown})`,
        "It is looked at again every few seconds; try again then, or see what is wrong: holdfast doctor",
      );
    }
  }
  if (want === "killed" && context.by !== "person") {
    return refuse("forbidden", "Cannot restore: Session was killed", "Only a person may restore a killed session.");
  }
  return missing(state, context) ?? intend({ want: "running" }, context);
}

function missing(state: SessionState, context: VerbContext): VerbAnswer | null {
  const gone = state.workspace.at === "gone" || (state.workspace.at === "ready" && context.workspaceMissing === true);
  return gone
    ? refuse(
        "conflict",
        `Workspace missing: ${state.workspacePath}`,
        "It is never made anew over lost files. Put it back there, or see what is kept: holdfast trash ls",
      )
    : null;
}

function admit(state: SessionState, prompt: Extract<Verb, { verb: "prompt" }>, context: VerbContext): VerbAnswer {
  if (state.intent.want === "killed") return wasKilled(state, "Session was killed");
  const { promptId, text, attachments = [] } = prompt;
  const more = attachments.length === 0 ? {} : { attachments };
  const admitted: SessionEvent[] = [
    ...takenUp(state, context),
    { type: "prompt.admitted", promptId, text, by: context.by, ...more },
  ];
  // `false`: a run that was lost is asked for again in so many words, whatever the daemon's own policy is.
  const down = state.intent.want !== "running" || restOf(state, false) !== null;
  if (!down) return { ok: true, events: admitted };
  return { ok: true, events: [{ type: "session.intent", want: { want: "running" }, by: context.by }, ...admitted] };
}

/** Troubles that are the agent's own silence: whoever gives it something to do has heard of them. */
const silences = ["agent-idle", "exited"] as const;

function takenUp({ reactions = {} }: SessionState, { by }: VerbContext): SessionEvent[] {
  if (by === reactionActor) return [];
  const open = silences.filter((name) => isOpen(reactions[name]));
  return open.map((reaction) => ({ type: "reaction.cleared", reaction }));
}

function wasKilled(state: SessionState, message: string): VerbAnswer {
  return refuse("conflict", message, wayBack(state));
}

function wayBack({ id, intent }: SessionState): string {
  const verb = intent.want === "snoozed" ? "wake" : intent.want === "archived" ? "unarchive" : "restore";
  return `Bring it back first: holdfast session ${verb} ${id}`;
}
