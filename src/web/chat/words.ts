/** What happened, in words for people. */
import type { TranscriptItem } from "../../contract/transcript.ts";

type Of<K extends TranscriptItem["item"]> = Extract<TranscriptItem, { item: K }>;

/** Null where a turn ended as turns do. */
export function turnEndWords({ stopReason, message }: Pick<Of<"turn-end">, "stopReason" | "message">): string | null {
  const words = stopWords[stopReason] ?? `The turn ended: ${stopReason.replaceAll("_", " ")}.`;
  if (words === "") return null;
  return message === null || message === "" ? words : `${words.replace(/\.$/, "")}: ${message}`;
}

/** Below a title that says already that the turn failed. */
export function failureWords(message: string | null): string {
  return message === null || message === "" ? "The agent gave no reason." : message;
}

/** A reason as the daemon or an agent gives it, fit to stand by itself. */
export function asSentence(reason: string): string {
  const text = reason.trim();
  if (text === "") return "";
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

const stopWords: Record<string, string> = {
  end_turn: "",
  quiet: "",
  cancelled: "The turn was cancelled.",
  max_tokens: "The answer was cut: the model's limit of tokens was reached.",
  max_turn_requests: "The turn ended: the agent's limit of requests to the model was reached.",
  refusal: "The agent refused to go on. What was asked is not part of the conversation.",
  error: "The turn failed.",
  forced: "The turn was ended here without the agent's word; it may still be at work on it.",
  orphaned_at_restart: "The agent was gone before it ended the turn. Part of the answer may be missing.",
};

export function endedWords({ how, exit }: Pick<Of<"ended">, "how" | "exit">): string {
  const status =
    exit?.signal != null ? ` (signal ${exit.signal})` : exit?.code != null ? ` (exit status ${exit.code})` : "";
  if (how === "own-exit") return `The agent ended by itself${status}.`;
  if (how === "crash") return `The agent crashed${status}.`;
  return how === "stopped" ? "The agent was stopped." : "The agent's process is gone.";
}

export function launchWords({
  how,
  state,
  reason,
  conversationGone,
}: Pick<Of<"launch">, "how" | "state" | "reason" | "conversationGone">): string {
  const resumed = how === "resume";
  if (state === "failed" && conversationGone === true) return "The conversation could not be resumed.";
  if (state === "failed") return `The agent could not be started: ${reason ?? "no reason is known"}`;
  if (state === "starting") return resumed ? "Resuming the conversation …" : "Starting the agent …";
  return resumed ? "Agent started again, conversation resumed." : "Agent started.";
}

export function damageWords({ what, bytes }: Pick<Of<"damaged">, "what" | "bytes">): string {
  const why: Record<string, string> = {
    oversized: "A line of the agent's output was too long to read",
    unparsable: "A line of the agent's output could not be understood",
    torn: "The agent's output ends in the middle of a line",
    shrunk: "The file with the agent's output became shorter",
  };
  return `${why[what] ?? "Part of the agent's output is damaged"} (${sizeWords(bytes)}). Part of the answer may be lost.`;
}

/** Who did it, from an actor's name. */
export function byWords(by: string): string {
  if (by === "person" || by.startsWith("person:")) return "by a person";
  if (by === "agent") return "by the agent";
  if (by.startsWith("session:")) return `by ${by.slice("session:".length)}`;
  return `by ${by}`;
}

export function sizeWords(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

export function durationWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

export function countWords(n: number): string {
  if (n < 1_000) return String(n);
  return n < 100_000 ? `${(n / 1_000).toFixed(1).replace(/\.0$/, "")}k` : `${Math.round(n / 1_000)}k`;
}
