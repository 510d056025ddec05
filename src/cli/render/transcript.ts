/** A chat's transcript, event by event; what is not said by somebody is left out. */
import type { EventJson } from "../../protocol/wire.ts";
import type { Paint } from "./paint.ts";
import { clean, cleanLines } from "./text.ts";

export function transcriptLines(event: EventJson, paint: Paint): string[] {
  const text = typeof event["text"] === "string" ? cleanLines(event["text"]) : [];
  switch (event.type) {
    case "prompt.admitted":
      return text.map((line) => paint.bold(`> ${line}`));
    case "agent.text":
      return text;
    case "agent.thought":
      return text.map((line) => paint.dim(line));
    case "permission.asked":
      return [paint.yellow("The agent asks for permission; answer it in the dashboard.")];
    case "context.reset":
      return [paint.yellow("Conversation context reset")];
    case "turn.ended":
      return [paint.dim(`[${typeof event["stopReason"] === "string" ? clean(event["stopReason"]) : "ended"}]`)];
    default:
      return [];
  }
}
