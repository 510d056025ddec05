/**
 * `acp approve`, `acp deny` and `acp questions`. The request that is answered is the one the user read: named by its id,
 * or shown and confirmed here. Only a script may leave the name out, and only if a single request is open.
 */
import type { AnswerRequest, PermissionRequestJson } from "../../../contract/permission.ts";
import { HoldfastError } from "../../../contract/errors.ts";
import { type ArgumentEntry, chatArgument, type CommandEntry, type Input, yesOption } from "../../command.ts";
import { askYesNo } from "../../confirm.ts";
import type { Context } from "../../context.ts";
import { questionOf } from "../../render/sessions.ts";
import { optionText, requestLines } from "../../render/permission-request.ts";
import { clean } from "../../render/text.ts";
import { operationCommand } from "../operation.ts";

type Answer = "approve" | "deny";

export const requestArgument: ArgumentEntry = {
  name: "question",
  description: "Permission request, e.g. q41; see acp questions",
  optional: true,
  completes: "request",
};

export const questions = operationCommand("questions", {
  arguments: [chatArgument],
  examples: [
    ["list open permission requests in full", "holdfast acp questions ma-12"],
    ["get their commands, for a script", "holdfast acp questions ma-12 --json | jq -r '.[].command'"],
  ],
  fails: "list the permission requests of",
  print: (requests, { paint }) =>
    requests.length === 0
      ? "No open permission requests."
      : requests.flatMap((request) => requestLines(request, paint)).join("\n"),
});

export const approve = answerCommand("approve", "Also allow it in the future, if the agent supports that", [
  ["approve the only open request; asks you to confirm", "holdfast acp approve ma-12"],
  ["approve the request you read", "holdfast acp approve ma-12 q41"],
  ["also approve it in the future", "holdfast acp approve ma-12 q41 --always"],
]);

export const deny = answerCommand("deny", "Also deny it in the future, if the agent supports that", [
  ["deny the request you read", "holdfast acp deny ma-12 q41"],
]);

function answerCommand(verb: Answer, always: string, examples: CommandEntry["examples"]): CommandEntry {
  return {
    arguments: [chatArgument, requestArgument],
    options: [
      { long: "always", description: always },
      { long: "request", value: "id", description: "Same as the argument", completes: "request" },
      yesOption,
    ],
    examples,
    notes:
      "Name the request if more than one is open. Without a name, in a terminal, the request is shown and you are asked\nto confirm. Each request can be answered once. Exits 1 if it was already answered.",
    fails: `${verb} a permission request of`,
    run: (context, input) => answerRequest(context, input, verb),
  };
}

async function answerRequest(context: Context, input: Input, verb: Answer): Promise<number> {
  const id = input.arg(0);
  const named = nameOf(input);
  const request = await findRequest(context, id, verb, named);
  const mustConfirm = named === undefined && !input.flag("yes") && context.isTerminal(0);
  if (mustConfirm && !(await confirm(context, verb, request))) {
    context.err("Not answered.");
    return 1;
  }
  const body = { requestId: request.id, ...choiceFor(verb, input.flag("always"), request) };
  const response = await context.call("answer", { params: { id }, body });
  const { answered, reason } = response;
  const done = `${verb === "approve" ? "Approved" : "Denied"}: ${clean(request.title)}`;
  const text = answered ? done : clean(reason ?? "The request was not answered.");
  return context.print({ ...response, requestId: request.id, title: request.title }, text, !answered);
}

function nameOf(input: Input): string | undefined {
  const argument = input.args[1];
  const option = input.text("request");
  if (argument === undefined || option === undefined || argument === option) return argument ?? option;
  throw new HoldfastError("usage", `Two permission requests are named: ${clean(argument)} and ${clean(option)}.`);
}

async function confirm(context: Context, verb: Answer, request: PermissionRequestJson): Promise<boolean> {
  context.err(requestLines(request, context.paint).join("\n"));
  return askYesNo(verb === "approve" ? "Approve it?" : "Deny it?");
}

async function findRequest(
  context: Context,
  id: string,
  verb: Answer,
  name: string | undefined,
): Promise<PermissionRequestJson> {
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
  if (name === undefined) throw new HoldfastError("conflict", "No open permission requests.");
  throw new HoldfastError("conflict", `Permission request ${clean(name)} is not open.`, {
    hint: open.length === 0 ? "It was already answered, or its agent is no longer running." : `Open:${list}`,
  });
}

function choiceFor(
  verb: Answer,
  always: boolean,
  { options }: PermissionRequestJson,
): Omit<AnswerRequest, "requestId"> {
  if (verb === "approve") return { answer: always ? "allow_always" : "allow" };
  if (!always) return { answer: "deny" };
  const option = options.find(({ kind }) => kind === "reject_always");
  if (option !== undefined) return { optionId: option.optionId };
  throw new HoldfastError("invalid", 'This agent has no "always deny" option.', {
    hint: `Options: ${options.map(optionText).join(", ")}. Omit --always to deny it once.`,
  });
}
