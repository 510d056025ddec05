import { HoldfastError } from "../../../contract/error.ts";
import type { Answers } from "../../../contract/answers.ts";
import { type CommandEntry, jsonOption, sessionArgument } from "../../command.ts";
import type { Input } from "../../input.ts";
import { clean } from "../../render/text.ts";
import { verbFailure } from "../session/verb.ts";

type Prompt = Answers["queue"]["prompts"][number];

const longestLine = 100;

export const command: CommandEntry = {
  arguments: [
    sessionArgument,
    {
      name: "text",
      description: "with --edit the new text, with --move the new place, from 1",
      optional: true,
      variadic: true,
      completes: "none",
    },
  ],
  options: [
    { long: "edit", value: "prompt", description: "give this prompt another text", completes: "none" },
    { long: "move", value: "prompt", description: "give this prompt another place", completes: "none" },
    { long: "withdraw", value: "prompt", description: "do not send this prompt", completes: "none" },
    jsonOption,
  ],
  examples: [
    ["what waits", "holdfast acp queue ma-12"],
    ["another text for it", "holdfast acp queue ma-12 --edit 5b3f 'Add two tests'"],
    ["to the front", "holdfast acp queue ma-12 --move 5b3f 1"],
    ["not at all", "holdfast acp queue ma-12 --withdraw 5b3f"],
  ],
  notes: "A prompt is named by its id, or by how that begins. Sent prompts cannot be changed.",
  daemon: "starts",
  async run(context, input) {
    const id = input.arg(0);
    try {
      const before = await context.call("queue", { params: { id } });
      const change = changeOf(input, before.prompts);
      const { prompts } =
        change === null
          ? before
          : await context.call("promptEdit", { params: { id, prompt: change.promptId }, body: change.body });
      if (input.flag("json")) context.json(prompts);
      else if (prompts.length === 0) context.out("No prompt waits.");
      else for (const [index, prompt] of prompts.entries()) context.out(line(index, prompt));
      return 0;
    } catch (error) {
      throw await verbFailure(context, "change the queue of", id, error);
    }
  },
};

interface Change {
  promptId: string;
  body: { text: string } | { position: number } | { withdraw: true };
}

function changeOf(input: Input, prompts: readonly Prompt[]): Change | null {
  const [, ...words] = input.args;
  const asked = (["edit", "move", "withdraw"] as const).filter((name) => input.text(name) !== undefined);
  const [what] = asked;
  if (asked.length > 1) throw new HoldfastError("usage", "Give one of --edit, --move and --withdraw.");
  if (what === undefined) {
    if (words.length > 0) throw new HoldfastError("usage", "The text is for --edit; send a prompt with holdfast send.");
    return null;
  }
  const { promptId } = find(prompts, input.text(what)!);
  if (what === "withdraw") return { promptId, body: { withdraw: true } };
  const text = words.join(" ");
  if (what === "edit") {
    if (text.trim() === "") throw new HoldfastError("usage", "--edit needs the new text.");
    return { promptId, body: { text } };
  }
  const place = Number(text);
  if (!Number.isSafeInteger(place) || place < 1)
    throw new HoldfastError("usage", "--move needs a place: 1 is the first.");
  return { promptId, body: { position: place - 1 } };
}

function find(prompts: readonly Prompt[], given: string): Prompt {
  const exact = prompts.find(({ promptId }) => promptId === given);
  const found = exact === undefined ? prompts.filter(({ promptId }) => promptId.startsWith(given)) : [exact];
  const [one] = found;
  if (one !== undefined && found.length === 1) return one;
  throw new HoldfastError(
    "not-found",
    `${found.length === 0 ? "No prompt" : "More than one prompt"} that waits is ${clean(given)}.`,
    {
      hint: `Waiting: ${prompts.length === 0 ? "none" : prompts.map(({ promptId }) => clean(promptId)).join(", ")}`,
    },
  );
}

function line(index: number, { promptId, text, state, attachments }: Prompt): string {
  const shown = clean(text);
  const short = shown.length <= longestLine ? shown : `${shown.slice(0, longestLine - 1)}…`;
  const more = attachments.length === 0 ? "" : ` [${attachments.map(({ name }) => clean(name)).join(", ")}]`;
  return `${index + 1}. ${clean(promptId)}${state === "queued" ? "" : ` (${clean(state)})`}  ${short}${more}`;
}
