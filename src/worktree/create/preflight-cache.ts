/**
 * What preflight learnt, for the `create` that follows it: each question to git is a process, and a spawn would otherwise
 * ask the same ones twice. Good for one `create` and for a short time; what is older is asked again.
 */
import type { WorkspacePlan } from "../../ports/worktree.ts";
import type { Start } from "./base.ts";
import type { Filters } from "../git/filters.ts";

export interface Foreseen {
  start: Extract<Start, { is: "commit" }>;
  /** Still being read: needed only once the branch is made. */
  filters: Promise<Filters>;
}

/** A spawn gets from its preflight to its worktree within milliseconds; one that had to queue looks again. */
const validMs = 2000;

export class Foresight {
  readonly #found = new Map<string, { until: number; foreseen: Foreseen }>();

  /** Only a branch that is to be made is foreseen: making it fails if it has come meanwhile, so nothing stale can pass. */
  put(plan: WorkspacePlan, start: Start, filters: Promise<Filters>): void {
    const now = performance.now();
    for (const [key, { until }] of this.#found) if (until < now) this.#found.delete(key);
    if (start.is === "commit") this.#found.set(keyOf(plan), { until: now + validMs, foreseen: { start, filters } });
  }

  take(plan: WorkspacePlan): Foreseen | null {
    const key = keyOf(plan);
    const found = this.#found.get(key);
    this.#found.delete(key);
    return found === undefined || found.until < performance.now() ? null : found.foreseen;
  }
}

function keyOf({ session, repository, path, branch, base, defaultBranch }: WorkspacePlan): string {
  return JSON.stringify([session, repository, path, branch, base, defaultBranch]);
}
