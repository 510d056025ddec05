/** Why a session cannot be contained; it is then not started at all. */
import { HoldfastError } from "../contract/error.ts";

export const noAllowList = "This build of Holdfast has no network allow-list. Use --network off or --network on.";

export function impossible(problem: string): HoldfastError {
  return new HoldfastError("preflight-failed", problem, { hint: "The agent was not started without containment." });
}
