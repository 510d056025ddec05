/** Transcript items as text. Each stop reason has its words here once: for the CLI, the dashboard and the status. */
import type { TranscriptItem } from "../../contract/transcript.ts";
import { formatSize } from "../text.ts";

type Of<K extends TranscriptItem["item"]> = Extract<TranscriptItem, { item: K }>;

interface StopText {
  /** Fragment for a line. */
  label: string;
  /** Null if the turn ended normally. */
  sentence: string | null;
  /** Fragment for the status, if the turn came to nothing. */
  failure?: string;
}

const stopReasons: Readonly<Record<string, StopText>> = {
  end_turn: { label: "turn finished", sentence: null },
  quiet: { label: "turn finished", sentence: null },
  cancelled: { label: "cancelled", sentence: "The turn was cancelled." },
  forced: {
    label: "turn force-ended",
    sentence: "You force-ended the turn; the agent may still be working on it.",
  },
  error: { label: "turn failed", sentence: "The turn failed.", failure: "its last turn failed" },
  refusal: {
    label: "the agent refused",
    sentence: "The agent refused to continue. This prompt is not part of the conversation.",
    failure: "the agent refused to continue",
  },
  max_tokens: {
    label: "cut at the model's token limit",
    sentence: "The answer was cut at the model's token limit.",
    failure: "its last answer hit the model's token limit",
  },
  max_turn_requests: {
    label: "cut at the agent's request limit",
    sentence: "The turn was cut at the agent's request limit.",
    failure: "its last turn hit the agent's request limit",
  },
  orphaned_at_restart: {
    label: "interrupted: the agent exited before it finished",
    sentence: "The agent exited during the turn. Part of the answer may be missing.",
    failure: "the agent exited during its last turn",
  },
};

function stopText(stopReason: string): StopText {
  const words = stopReason.replaceAll("_", " ");
  return Object.hasOwn(stopReasons, stopReason)
    ? stopReasons[stopReason]!
    : { label: words, sentence: `The turn ended: ${words}.` };
}

export function stopLabel(stopReason: string): string {
  return stopText(stopReason).label;
}

/** Why a turn that ended this way came to nothing; null if it did not. */
export function stopFailure(stopReason: string): string | null {
  return stopText(stopReason).failure ?? null;
}

/** Null if the turn ended normally. */
export function turnEndText({ stopReason, message }: Pick<Of<"turn-end">, "stopReason" | "message">): string | null {
  const { sentence } = stopText(stopReason);
  if (sentence === null) return null;
  return message === null || message === "" ? sentence : `${sentence.replace(/\.$/, "")}: ${message}`;
}

export function launchText(launch: Pick<Of<"launch">, "how" | "state" | "reason" | "conversationGone">): string {
  const { how, state, reason, conversationGone } = launch;
  const resumed = how === "resume";
  if (state === "failed" && conversationGone === true) return "The conversation could not be resumed.";
  if (state === "failed") return `The agent could not be started: ${reason ?? "unknown reason"}`;
  if (state === "starting") return resumed ? "Resuming the conversation …" : "Starting the agent …";
  return resumed ? "Agent restarted, conversation resumed." : "Agent started.";
}

const damages: Readonly<Record<string, string>> = {
  oversized: "A line of the agent's output was too long to read",
  unparsable: "A line of the agent's output could not be parsed",
  torn: "The agent's output ends in the middle of a line",
  shrunk: "The file with the agent's output became shorter",
};

export function damageText({ what, bytes }: Pick<Of<"damaged">, "what" | "bytes">): string {
  return `${damages[what] ?? "Part of the agent's output is damaged"} (${formatSize(bytes)}). Part of the answer may be lost.`;
}
