/** What a session needs from the user, and the command that gives it: lines below a session in a list. */
import type { SessionJson } from "../../protocol/wire.ts";
import { clean } from "./text.ts";

export type Needing = Pick<SessionJson, "id" | "kind" | "status" | "reason" | "permissions">;

/** What is asked; null where nothing is. */
export function questionOf({ status, reason, permissions }: Needing): string | null {
  if (status !== "needs_input") return null;
  const [first, ...more] = permissions;
  if (first === undefined) return clean(reason ?? "The agent waits for an answer");
  return `${clean(first.title)}${more.length === 0 ? "" : ` (and ${more.length} more)`}`;
}

/** The command that answers, fixes or shows it; null where there is none. */
export function commandFor({ id, kind, status, permissions }: Needing): { what: string; command: string } | null {
  if (status === "failed") return { what: "Restore", command: `holdfast session restore ${id}` };
  if (status !== "needs_input") return null;
  return kind === "chat" && permissions.length > 0
    ? { what: "Answer", command: `holdfast acp approve ${id} (or deny)` }
    : { what: "Answer", command: `holdfast attach ${id}` };
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
