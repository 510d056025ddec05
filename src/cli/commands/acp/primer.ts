import { HoldfastError } from "../../../contract/error.ts";
import { chatArgument, type CommandEntry, jsonOption } from "../../command.ts";
import { inert } from "../../render/text.ts";
import { verbFailure } from "../session/verb.ts";

export const command: CommandEntry = {
  arguments: [chatArgument],
  options: [
    { long: "before-seq", value: "seq", description: "only what was said before this event", completes: "none" },
    jsonOption,
  ],
  examples: [
    ["a recap of the last turns", "holdfast acp primer ma-12"],
    ["of those before a context reset", "holdfast acp primer ma-12 --before-seq 340"],
  ],
  notes: "Markdown, for an agent that lost its conversation. It is never sent by itself.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    const before = input.text("before-seq");
    if (before !== undefined && !/^\d{1,15}$/.test(before)) {
      throw new HoldfastError("usage", `--before-seq must be a whole number, not ${before}.`);
    }
    try {
      const query = before === undefined ? {} : { query: { before_seq: before } };
      const primer = await context.call("primer", { params: { id }, ...query });
      if (input.flag("json")) context.json(primer);
      else context.out(inert(primer.markdown).trimEnd());
    } catch (error) {
      throw await verbFailure(context, "recap", id, error);
    }
  },
};
