/** Mode, model and other options, as the requests that set them. */
import type { ChatPick } from "../contract/acp.ts";

export function pickRequest(
  sessionId: string,
  pick: ChatPick,
  key: string,
): { key: string; method: string; params: object } {
  switch (pick.set) {
    case "mode":
      return { key, method: "session/set_mode", params: { sessionId, modeId: pick.value } };
    case "model":
      return { key, method: "session/set_model", params: { sessionId, modelId: pick.value } };
    case "config":
      return {
        key,
        method: "session/set_config_option",
        params: { sessionId, configId: pick.id, value: pick.value },
      };
    default:
      return pick satisfies never;
  }
}
