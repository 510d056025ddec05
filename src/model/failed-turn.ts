/** A turn that came to nothing: idle after it looks like idle after one that is done, unless the status says so. */
import type { SessionState } from "./session.ts";
import { shorten } from "./shorten.ts";

export interface FailedTurn {
  /** Identifies this turn among the session's turns. */
  key: string;
  /** Lower-case fragment, with the agent's own words where it gave any. */
  why: string;
}

const longestWords = 300;

const badEnds: Record<string, string> = {
  error: "its last turn failed",
  refusal: "the agent refused to continue",
  max_tokens: "its last answer was cut at the model's token limit",
  max_turn_requests: "its last turn was cut at the agent's limit of requests",
  orphaned_at_restart: "the agent stopped before it finished its last turn",
};

/** The session's latest turn, if it failed, was refused or was cut, and no turn has begun since. */
export function failedTurn({ kind, turn, cutTurn }: SessionState): FailedTurn | null {
  if (kind === "terminal") {
    if (cutTurn === undefined || cutTurn === null) return null;
    const why =
      cutTurn.how === "crash"
        ? "the agent crashed during its last turn and was restarted"
        : "its last turn was cut: the machine or its tmux server went down";
    return { key: `cut:${cutTurn.at}`, why };
  }
  if (turn.turn !== "ended") return null;
  const why = Object.hasOwn(badEnds, turn.stopReason) ? badEnds[turn.stopReason]! : null;
  if (why === null) return null;
  const words = shorten(turn.message?.replace(/\s+/g, " ").trim() ?? "", longestWords);
  return { key: `turn:${turn.at}:${turn.stopReason}`, why: words === "" ? why : `${why}: ${words}` };
}
