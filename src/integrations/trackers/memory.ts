/**
 * Decides which queries must go to the host again. A cheap conditional request, the list of recent updates, shows which
 * pull requests changed. Checks and conflicts change without an update, so open ones are queried while something is
 * pending, and otherwise from time to time.
 */
import type { PullRequestLookup, TrackerResult } from "../../ports/tracker.ts";
import type { PullRequestFacts } from "../../contract/tracker.ts";
import { absent, failureOf, known } from "./result.ts";

/** An entry of the list of recent updates. */
export interface Updated {
  number: number;
  branch: string;
  headSha: string;
  state: PullRequestFacts["state"];
  updatedAt: number;
}

export interface Remembered {
  facts: PullRequestFacts[];
  askedAt: number;
}

/** `isComplete`: there are no older ones. */
export interface Updates {
  list: Updated[];
  isComplete: boolean;
}

/** Records the result of one query. */
export type Give = (lookup: PullRequestLookup, result: TrackerResult<PullRequestFacts[]>) => void;

/** A rerun check or a moved base is noticed within this. */
export const openAgeMs = 60_000;
/** In case the list missed a change. */
export const settledAgeMs = 10 * 60_000;
/** The first check may appear this long after a push. */
export const checksComeMs = 10 * 60_000;
/** A bound; no one has this many sessions. */
const maxRemembered = 5000;

export class Memory {
  readonly #answers = new Map<string, Remembered>();
  #newestSeen = 0;

  get(lookup: PullRequestLookup): Remembered | undefined {
    return this.#answers.get(nameOf(lookup));
  }

  put(lookup: PullRequestLookup, facts: PullRequestFacts[], askedAt: number): void {
    this.#answers.delete(nameOf(lookup));
    this.#answers.set(nameOf(lookup), { facts, askedAt });
    if (this.#answers.size > maxRemembered) this.#answers.delete(this.#answers.keys().next().value!);
  }

  /** Reads the list of updates (null: no repository) and queries the host only for what may have changed. */
  async ask(
    lookups: readonly PullRequestLookup[],
    now: () => number,
    readUpdates: () => Promise<Updates | null>,
    query: (pending: readonly PullRequestLookup[], updates: Updates, give: Give) => Promise<void>,
  ): Promise<Map<string, TrackerResult<PullRequestFacts[]>>> {
    const results = new Map<string, TrackerResult<PullRequestFacts[]>>();
    if (lookups.length === 0) return results;
    try {
      const updates = await readUpdates();
      if (updates === null) return new Map(lookups.map((one) => [one.key, absent]));
      const overflowed = this.overflowed(updates.list, updates.isComplete);
      const pending = lookups.filter((one) => {
        const remembered = this.get(one);
        if (overflowed || mustQuery(one, remembered, updates.list, now())) return true;
        results.set(one.key, known(remembered!.facts));
        return false;
      });
      await query(pending, updates, (lookup, result) => {
        if (result.is === "known") this.put(lookup, result.value, now());
        results.set(lookup.key, result);
      });
    } catch (error) {
      const why = failureOf(error);
      for (const one of lookups) if (!results.has(one.key)) results.set(one.key, why);
    }
    return results;
  }

  /** More changed than one page of the list shows: entries that are not on it may have changed too. */
  overflowed(list: readonly Updated[], isComplete: boolean): boolean {
    const before = this.#newestSeen;
    this.#newestSeen = Math.max(before, ...list.map((one) => one.updatedAt));
    if (isComplete || before === 0) return false;
    return Math.min(...list.map((one) => one.updatedAt)) > before;
  }
}

export function mustQuery(
  lookup: PullRequestLookup,
  remembered: Remembered | undefined,
  list: readonly Updated[],
  now: number,
): boolean {
  if (remembered === undefined || lookup.fresh === true) return true;
  const age = now - remembered.askedAt;
  if (remembered.facts.some((one) => one.state === "open" && (isUnsettled(one, now) || age >= openAgeMs))) return true;
  return age >= settledAgeMs || list.some((one) => concerns(one, lookup, remembered) && isNews(one, remembered));
}

function concerns(one: Updated, lookup: PullRequestLookup, remembered: Remembered): boolean {
  return (
    one.branch === lookup.branch ||
    lookup.numbers.includes(one.number) ||
    remembered.facts.some((fact) => fact.number === one.number)
  );
}

function isNews(one: Updated, remembered: Remembered): boolean {
  const fact = remembered.facts.find((found) => found.number === one.number);
  if (fact === undefined) return true;
  return one.updatedAt > fact.updatedAt || (one.updatedAt === fact.updatedAt && one.state !== fact.state);
}

function isUnsettled(one: PullRequestFacts, now: number): boolean {
  if (one.conflict === null || one.mergeable === null) return true;
  if (one.checks.some((check) => check.state === "pending")) return true;
  return one.checks.length === 0 && now - one.updatedAt < checksComeMs;
}

function nameOf(lookup: PullRequestLookup): string {
  return JSON.stringify([lookup.branch, lookup.numbers.toSorted((a, b) => a - b)]);
}
