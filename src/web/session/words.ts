/** Actors and ends, as people say them. */
import type { SessionJson } from "../../contract/wire.ts";

export function actorWords(by: string): string {
  if (by === "person") return "you";
  if (by === "agent") return "the agent itself";
  if (by === "machine") return "the machine";
  if (by.startsWith("session:")) return `session ${by.slice("session:".length)}`;
  return `the ${by} policy`;
}

export function endWords(how: NonNullable<SessionJson["end"]>["how"]): string {
  switch (how) {
    case "own-exit":
      return "The agent ended by itself.";
    case "crash":
      return "The agent crashed.";
    case "stopped":
      return "It was ended by Holdfast, as asked.";
    case "lost":
      return "Its processes were lost with the machine or the tmux server.";
    case "launch-failed":
      return "The agent could not be started.";
    default:
      return `It ended: ${how}.`;
  }
}

/** "2 h 5 min", "3.2 s". */
export function spanWords(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.floor((ms % 60_000) / 1_000)} s`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}
