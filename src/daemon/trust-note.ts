/** What a start reports about registered projects whose file the user has not answered about. */
import type { ProjectRow } from "../ports/store.ts";
import { isOpenQuestion, type TrustState } from "../contract/trust.ts";
import type { Services } from "../supervisor/services.ts";

type Known = Pick<Services, "store" | "settings" | "projects" | "trust">;

export async function trustNotes(services: Known): Promise<string[]> {
  const states = await Promise.all(
    services.store.projects().map(async (row) => ({ row, state: await stateOf(services, row) })),
  );
  const waiting = states.filter(({ state }) => isOpenQuestion(state)).map(({ row }) => row.id);
  if (waiting.length === 0) return [];
  const [only] = waiting;
  if (waiting.length === 1) return [`1 project waits for your trust: holdfast project trust ${only}`];
  return [`${waiting.length} projects wait for your trust (${waiting.join(", ")}): holdfast project trust <id>`];
}

async function stateOf({ settings, projects, trust }: Known, row: ProjectRow): Promise<TrustState> {
  const known = settings.last(row.id)?.trust;
  if (known === undefined || !isOpenQuestion(known.state)) return "none";
  if (known.digest !== null) return known.state;
  // Kept by a build that asked nobody: whether anything of the file needs trust is only in the file.
  const question = await projects.trustOf(row).catch(() => null);
  return question === null || question.parts.length === 0 ? "none" : trust.stateOf(question.file, question.digest);
}
