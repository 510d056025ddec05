/** Finds what a request names, or reports that it does not exist. */
import { HoldfastError } from "../contract/errors.ts";
import { asSessionId } from "../contract/ids.ts";
import type { SessionState } from "../model/session.ts";
import type { ProjectRow } from "../ports/store.ts";
import type { Services } from "../supervisor/services.ts";

type Needs = Pick<Services, "store">;

/** A request about a session. */
export type Named = { params: { id: string } };

export function findSession({ store }: Needs, { params: { id } }: Named): SessionState {
  const session = store.session(asSessionId(id));
  if (session !== null && session.intent.want !== "deleted") return session;
  throw new HoldfastError("not-found", "Session not found", {
    hint: "List sessions: holdfast session ls --include-terminated",
    details: { reason: "session-not-found", session: id },
  });
}

export function findChat(services: Needs, request: Named): SessionState {
  const session = findSession(services, request);
  if (session.kind === "chat") return session;
  throw new HoldfastError("conflict", `${session.id} is a terminal session.`, {
    hint: `Use its screen: holdfast attach ${session.id}`,
  });
}

export function findProject({ store }: Needs, id: string): ProjectRow {
  const rows = store.projects();
  const row = rows.find((project) => project.id === id);
  if (row !== undefined) return row;
  throw new HoldfastError("not-found", `Unknown project: ${id}`, {
    hint:
      rows.length === 0
        ? "No project is registered yet: run `holdfast init` or `holdfast project add <path>` in a repository."
        : `Registered projects: ${rows.map((project) => project.id).join(", ")}.`,
  });
}

/** Reads a query parameter that must be an integer. */
export function integer(name: string, text: string | undefined, fallback: number, least = 1): number {
  const value = Number(text ?? fallback);
  if (Number.isSafeInteger(value) && value >= least) return value;
  throw new HoldfastError("usage", `\`${name}\` must be an integer from ${least}.`);
}
