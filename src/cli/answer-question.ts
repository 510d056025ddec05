/** `acp approve` and `acp deny`: the question that is named in the answer is the one that was answered. */
import { HoldfastError } from "../protocol/error.ts";
import type { AnswerRequest } from "../protocol/command.ts";
import type { SessionJson } from "../protocol/wire.ts";
import type { Context } from "./context.ts";
import type { OptionEntry } from "./entry-types.ts";
import type { Input } from "./input.ts";
import { questionOf } from "./render/need.ts";
import { clean } from "./render/text.ts";
import { verbFailure } from "./verb.ts";

type Question = SessionJson["permissions"][number];

export const requestOption: OptionEntry = {
  long: "request",
  value: "id",
  description: "this question, not the oldest",
  completes: "request",
};

export async function answerQuestion(context: Context, input: Input, verb: "approve" | "deny"): Promise<number> {
  const id = input.arg(0);
  try {
    const question = await findQuestion(context, id, input.text("request"));
    const { requestId, title } = question;
    const body = { requestId, ...choiceFor(verb, input.flag("always"), question) };
    const answer = await context.call("answer", { params: { id }, body });
    const { answered, reason } = answer;
    if (input.flag("json")) context.json({ ...answer, requestId, title });
    else if (answered) context.out(`${verb === "approve" ? "Approved" : "Denied"}: ${clean(title)}`);
    else context.err(clean(reason ?? "It was not answered."));
    return answered ? 0 : 1;
  } catch (error) {
    throw await verbFailure(context, `${verb} a question of`, id, error);
  }
}

async function findQuestion(context: Context, id: string, wanted: string | undefined): Promise<Question> {
  const session = await context.call("session", { params: { id } });
  const { permissions } = session;
  const found = permissions.find(({ requestId }) => wanted === undefined || requestId === wanted);
  if (found !== undefined) return found;
  if (session.kind === "terminal") {
    const asks = questionOf(session);
    throw new HoldfastError("conflict", `it is a terminal session${asks === null ? "" : `. It asks: ${asks}`}`, {
      hint: `Answer on its screen: holdfast attach ${id}`,
    });
  }
  if (wanted === undefined) throw new HoldfastError("conflict", "Nothing is asked.");
  throw new HoldfastError("conflict", `The question ${clean(wanted)} is not open.`, {
    hint:
      permissions.length === 0
        ? "It was answered already, or its agent is gone."
        : `Open: ${permissions.map(({ requestId, title }) => `${clean(requestId)} (${clean(title)})`).join(", ")}.`,
  });
}

function choiceFor(verb: "approve" | "deny", always: boolean, { options }: Question): Omit<AnswerRequest, "requestId"> {
  if (verb === "approve") return { answer: always ? "allow_always" : "allow" };
  if (!always) return { answer: "deny" };
  const option = options.find(({ kind }) => kind === "reject_always");
  if (option !== undefined) return { optionId: option.optionId };
  throw new HoldfastError("invalid", "The agent offers nothing that denies it for good.", {
    hint: `It offers: ${options.map(({ name }) => clean(name)).join(", ")}. Leave out --always to deny it once.`,
  });
}
