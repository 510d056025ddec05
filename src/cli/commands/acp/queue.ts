import { HoldfastError } from "../../../contract/errors.ts";
import type { Output } from "../../../contract/operations.ts";
import { type CommandEntry, sessionArgument, type Input } from "../../command.ts";
import { clean } from "../../render/text.ts";

type Prompt = Output<"queue">["prompts"][number];

const longestLine = 100;

export const command: CommandEntry = {
  arguments: [
    sessionArgument,
    {
      name: "text",
      description: "With --edit the new text, with --move the new position, from 1",
      optional: true,
      variadic: true,
    },
  ],
  options: [
    { long: "edit", value: "prompt", description: "Edit this prompt" },
    { long: "move", value: "prompt", description: "Move this prompt" },
    { long: "withdraw", value: "prompt", description: "Remove this prompt from the queue" },
  ],
  examples: [
    ["list queued prompts", "holdfast acp queue ma-12"],
    ["edit one", "holdfast acp queue ma-12 --edit 5b3f 'Add two tests'"],
    ["move one to the front", "holdfast acp queue ma-12 --move 5b3f 1"],
    ["remove one", "holdfast acp queue ma-12 --withdraw 5b3f"],
  ],
  notes: "Name a prompt by its id or a unique prefix. Sent prompts cannot be changed.",
  fails: "change the queue of",
  async run(context, input) {
    const id = input.arg(0);
    const before = await context.call("queue", { params: { id } });
    const change = changeOf(input, before.prompts);
    const { prompts } =
      change === null
        ? before
        : await context.call("promptEdit", { params: { id, prompt: change.promptId }, body: change.body });
    context.print(prompts, prompts.length === 0 ? "No queued prompts." : prompts.map(line));
  },
};

interface Change {
  promptId: string;
  body: { text: string } | { position: number } | { withdraw: true };
}

function changeOf(input: Input, prompts: readonly Prompt[]): Change | null {
  const [, ...words] = input.args;
  const actions = (["edit", "move", "withdraw"] as const).filter((name) => input.text(name) !== undefined);
  const [action] = actions;
  if (actions.length > 1) throw new HoldfastError("usage", "Use only one of --edit, --move and --withdraw.");
  if (action === undefined) {
    if (words.length > 0)
      throw new HoldfastError("usage", "The text requires --edit. To send a prompt, use holdfast send.");
    return null;
  }
  const { promptId } = find(prompts, input.text(action)!);
  if (action === "withdraw") return { promptId, body: { withdraw: true } };
  const text = words.join(" ");
  if (action === "edit") {
    if (text.trim() === "") throw new HoldfastError("usage", "--edit requires the new text.");
    return { promptId, body: { text } };
  }
  const position = Number(text);
  if (!Number.isSafeInteger(position) || position < 1)
    throw new HoldfastError("usage", "--move requires a position; 1 is the first.");
  return { promptId, body: { position: position - 1 } };
}

function find(prompts: readonly Prompt[], given: string): Prompt {
  const exact = prompts.find(({ promptId }) => promptId === given);
  const found = exact === undefined ? prompts.filter(({ promptId }) => promptId.startsWith(given)) : [exact];
  const [one] = found;
  if (one !== undefined && found.length === 1) return one;
  throw new HoldfastError(
    "not-found",
    `${found.length === 0 ? "No" : "More than one"} queued prompt matches ${clean(given)}.`,
    {
      hint: `Queued: ${prompts.length === 0 ? "none" : prompts.map(({ promptId }) => clean(promptId)).join(", ")}`,
    },
  );
}

function line({ promptId, text, state, attachments }: Prompt, index: number): string {
  const shown = clean(text);
  const short = shown.length <= longestLine ? shown : `${shown.slice(0, longestLine - 1)}…`;
  const more = attachments.length === 0 ? "" : ` [${attachments.map(({ name }) => clean(name)).join(", ")}]`;
  return `${index + 1}. ${clean(promptId)}${state === "queued" ? "" : ` (${clean(state)})`}  ${short}${more}`;
}
