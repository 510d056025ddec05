import { type CommandEntry, jsonOption, sessionArgument } from "../../command.ts";
import { clean } from "../../render/text.ts";
import { verbFailure } from "./verb.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument, { name: "pull-request", description: "its number or address", completes: "none" }],
  options: [jsonOption],
  examples: [["a pull request that was made by other means", "holdfast session claim-pr ma-12 89"]],
  notes: "Its checks, reviews and merge then count for this session. Another session that had it loses it.",
  daemon: "starts",
  async run(context, input) {
    const [id = "", pullRequest = ""] = input.args;
    try {
      const session = await context.call("claimPullRequest", { params: { id }, body: { pullRequest } });
      const claimed = session.pullRequests?.find(
        (one) => one.url === pullRequest || String(one.number) === pullRequest.replace(/^[#!]/, ""),
      );
      if (input.flag("json")) context.json(session);
      else context.out(`Session ${session.id} has ${clean(claimed?.url ?? session.pullRequest?.url ?? pullRequest)}`);
    } catch (error) {
      throw await verbFailure(context, "claim-pr", id, error);
    }
  },
};
