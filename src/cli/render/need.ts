/** What a session needs from the user, and the command that gives it: lines below a session in a list. */
import type { SessionJson } from "../../contract/session.ts";
import { questionId } from "../../contract/question.ts";
import { shorten } from "../../model/text.ts";
import { clean } from "./text.ts";

export type Needing = Pick<SessionJson, "id" | "kind" | "status" | "reason" | "permissions">;

/** What is asked; null where nothing is. */
export function questionOf({ status, reason, permissions }: Needing): string | null {
  if (status !== "needs_input") return null;
  const [first, ...more] = permissions;
  if (first === undefined) return clean(reason ?? "The agent waits for an answer");
  const { title, command } = first;
  // A title says what the agent likes; the command is what it runs.
  const runs = command === undefined || command === null || command === title ? "" : ` · runs: ${clean(command)}`;
  const text = shorten(`${clean(title)}${runs}`, maxQuestion);
  return `${text}${more.length === 0 ? "" : ` (and ${more.length} more)`}`;
}

/** The rest is in `acp questions`, which the hint names. */
const maxQuestion = 2000;

/** The command that answers, fixes or shows it; null where there is none. */
export function commandFor({ id, kind, status, permissions }: Needing): { what: string; command: string } | null {
  if (status === "failed") return { what: "Restore", command: `holdfast session restore ${id}` };
  if (status !== "needs_input") return null;
  return kind === "chat" && permissions.length > 0
    ? { what: "Answer", command: answerCommand(id, permissions) }
    : { what: "Answer", command: `holdfast attach ${id}` };
}

/** Names the request: the one that is read is the one that is answered. */
function answerCommand(id: string, [first, ...more]: Needing["permissions"]): string {
  const see = first!.more === true || more.length > 0 ? `; all of it: holdfast acp questions ${id}` : "";
  return `holdfast acp approve ${id} ${questionId(first!.requestId)} (or deny)${see}`;
}

/** Fragments without indentation; empty where the status speaks for itself. */
export function needLines(session: Needing): string[] {
  const question = questionOf(session);
  const answer = commandFor(session);
  return [
    ...(question !== null ? [`Asks: ${question}`] : session.reason === null ? [] : [clean(session.reason)]),
    ...(answer === null ? [] : [`${answer.what}: ${answer.command}`]),
  ];
}
