/**
 * `acp approve` and `acp deny`. The request that is answered is the one that was read: named by its id, or shown and
 * confirmed here. Only a script may leave the name out, and only where a single request is open.
 */
import { HoldfastError } from "../../../contract/error.ts";
import type { AnswerRequest } from "../../../contract/command.ts";
import type { QuestionJson } from "../../../contract/wire.ts";
import type { Context } from "../../context.ts";
import type { ArgumentEntry, OptionEntry } from "../../command.ts";
import type { Input } from "../../input.ts";
import { questionOf } from "../../render/need.ts";
import { optionText, questionLines } from "../../render/question.ts";
import { clean } from "../../render/text.ts";
import { verbFailure } from "../session/verb.ts";

type Verb = "approve" | "deny";

export const questionArgument: ArgumentEntry = {
  name: "question",
  description: "Permission request, e.g. q41; see acp questions",
  optional: true,
  completes: "request",
};

export const requestOption: OptionEntry = {
  long: "request",
  value: "id",
  description: "Same as the argument",
  completes: "request",
};

export const answerNotes =
  "Name the request when more than one is open. Without a name, in a terminal, the request is shown and you are asked\nto confirm. A request is answered once; exit code 1 if it was answered before.";

export async function answerQuestion(context: Context, input: Input, verb: Verb): Promise<number> {
  const id = input.arg(0);
  try {
    const named = nameOf(input);
    const question = await findQuestion(context, id, verb, named);
    if (
      named === undefined &&
      !input.flag("yes") &&
      context.isTerminal(0) &&
      !(await confirm(context, verb, question))
    ) {
      context.err("Not answered.");
      return 1;
    }
    const body = { requestId: question.id, ...choiceFor(verb, input.flag("always"), question) };
    const answer = await context.call("answer", { params: { id }, body });
    const { answered, reason } = answer;
    if (input.flag("json")) context.json({ ...answer, requestId: question.id, title: question.title });
    else if (answered) context.out(`${verb === "approve" ? "Approved" : "Denied"}: ${clean(question.title)}`);
    else context.err(clean(reason ?? "It was not answered."));
    return answered ? 0 : 1;
  } catch (error) {
    throw await verbFailure(context, `${verb} a question of`, id, error);
  }
}

function nameOf(input: Input): string | undefined {
  const argument = input.args[1];
  const option = input.text("request");
  if (argument === undefined || option === undefined || argument === option) return argument ?? option;
  throw new HoldfastError("usage", `Two permission requests are named: ${clean(argument)} and ${clean(option)}.`);
}

async function confirm(context: Context, verb: Verb, question: QuestionJson): Promise<boolean> {
  context.err(questionLines(question, context.paint).join("\n"));
  const { askYesNo } = await import("../../confirm.ts");
  return askYesNo(verb === "approve" ? "Approve it?" : "Deny it?");
}

async function findQuestion(context: Context, id: string, verb: Verb, name: string | undefined): Promise<QuestionJson> {
  const session = await context.call("session", { params: { id } });
  if (session.kind === "terminal") {
    const asks = questionOf(session);
    throw new HoldfastError("conflict", `it is a terminal session${asks === null ? "" : `. It asks: ${asks}`}`, {
      hint: `Answer on its screen: holdfast attach ${id}`,
    });
  }
  const open = await context.call("questions", { params: { id } });
  const found = open.filter((question) => name === undefined || question.id === name);
  if (found.length === 1) return found[0]!;
  const list = open.map(({ id: own, title }) => `\n  ${clean(own)}  ${clean(title)}`).join("");
  if (found.length > 1) {
    throw new HoldfastError("conflict", `${found.length} permission requests are open.`, {
      hint: `Name the one you read: holdfast acp ${verb} ${id} ${found[0]!.id}${list}\nRead them: holdfast acp questions ${id}`,
    });
  }
  if (name === undefined) throw new HoldfastError("conflict", "No permission request is open.");
  throw new HoldfastError("conflict", `The question ${clean(name)} is not open.`, {
    hint: open.length === 0 ? "It was answered already, or its agent is gone." : `Open:${list}`,
  });
}

function choiceFor(verb: Verb, always: boolean, { options }: QuestionJson): Omit<AnswerRequest, "requestId"> {
  if (verb === "approve") return { answer: always ? "allow_always" : "allow" };
  if (!always) return { answer: "deny" };
  const option = options.find(({ kind }) => kind === "reject_always");
  if (option !== undefined) return { optionId: option.optionId };
  throw new HoldfastError("invalid", "The agent offers nothing that denies it permanently.", {
    hint: `It offers: ${options.map(optionText).join(", ")}. Leave out --always to deny it once.`,
  });
}
