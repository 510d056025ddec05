/** The parts that every adapter uses: results, schemas, and what an adapter returns. */
import * as z from "zod/mini";
import type { IssueFacts, PullRequestFacts, ReviewThread } from "../../contract/tracker.ts";
import type { CodeHost, PullRequestLookup, Tracker, TrackerResult, TrackerSettings } from "../../ports/tracker.ts";
import { type TrackerHttp, Unanswered } from "./http.ts";
import { readReference, sameRepo } from "./text.ts";

export const absent = { is: "absent" } as const;

export function known<T>(value: T): TrackerResult<T> {
  return { is: "known", value };
}

type Unknown = Extract<TrackerResult<never>, { is: "unknown" }>;

export function unknown(why: string, retryAt: number | null = null, token?: Unknown["token"]): Unknown {
  return { is: "unknown", why, retryAt, ...(token === undefined ? {} : { token }) };
}

/** Turns `Unanswered` into a result; any other error is a bug and is rethrown. */
export async function resultOf<T>(work: () => Promise<TrackerResult<T>>): Promise<TrackerResult<T>> {
  try {
    return await work();
  } catch (error) {
    return failureOf(error);
  }
}

export function failureOf(error: unknown): Unknown {
  if (error instanceof Unanswered) return unknown(error.message, error.retryAt, error.token);
  throw error;
}

/** Throws `Unanswered` if the response does not match the schema. */
export function shaped<S extends z.ZodMiniType>(schema: S, value: unknown, who: string): z.output<S> {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  const at = result.error.issues[0]?.path.join(".") ?? "";
  throw new Unanswered(`${who} returned an unexpected response${at === "" ? "" : ` (at ${at})`}.`);
}

/** Null if it is not JSON: a proxy may respond with HTML. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Addresses become links, so only http and https are allowed. */
export const webAddress = z.string().check(
  z.maxLength(2000),
  z.refine((text) => /^https?:\/\/[^\s]+$/.test(text)),
);
export const commitId = z.string().check(z.regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/));
export const time = z.string().check(z.refine((text) => !Number.isNaN(Date.parse(text))));
export const count = z.int().check(z.minimum(1));

/** Runs at most `atOnce` at the same time; results are in order, the first error stops it. */
export async function eachOf<T, R>(items: readonly T[], atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at]!);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

/** What an adapter returns. */
export interface OpenedTracker extends Pick<Tracker, "host" | "issue" | "issues"> {
  http: TrackerHttp;
}

/** How an adapter reads a code host. Its functions may throw `Unanswered`. */
interface HostReader {
  /** The host's name in sentences. */
  title: string;
  webOrigin: string;
  /** The path segment before the number of a pull request. */
  kind: string;
  /** The pull requests of a repository; null if it cannot have this name. */
  open(repo: string): {
    ask(lookups: readonly PullRequestLookup[]): Promise<Map<string, TrackerResult<PullRequestFacts[]>>>;
    one(number: number): Promise<TrackerResult<PullRequestFacts>>;
  } | null;
  logTail(one: PullRequestFacts, check: string, lines: number): Promise<TrackerResult<string[]>>;
  threads(one: PullRequestFacts): Promise<TrackerResult<ReviewThread[]>>;
  /** The response to the request to merge. */
  merge(one: PullRequestFacts): Promise<{ status: number; message: string }>;
}

export function codeHostOf({ repo }: TrackerSettings, reader: HostReader): CodeHost {
  const own = reader.open(repo)!;
  return {
    pullRequests: async (lookups) => await own.ask(lookups),
    async pullRequest(reference) {
      const found = readReference(reference, reader.webOrigin, [reader.kind]);
      if (found === null || found.number < 1) return absent;
      // Claimed from another repository, such as the upstream of a fork.
      const from = found.repo === null || sameRepo(found.repo, repo) ? own : reader.open(found.repo);
      return from === null ? absent : await resultOf(async () => await from.one(found.number));
    },
    logTail: async (...given) => await resultOf(async () => await reader.logTail(...given)),
    threads: async (one) => await resultOf(async () => await reader.threads(one)),
    async merge(one) {
      try {
        const { status, message } = await reader.merge(one);
        if (status === 200) return { merged: true };
        if (status === 409) return { merged: false, why: `It changed since the last check: ${message}.` };
        if (status === 404) return { merged: false, why: "The token cannot merge it, or it no longer exists." };
        return { merged: false, why: `${reader.title} refused the merge: ${message}.` };
      } catch (error) {
        // It may have been merged anyway; the next poll shows it.
        return { merged: false, why: failureOf(error).why };
      }
    },
  };
}

/** How an adapter reads issues. Its functions may throw `Unanswered`. */
interface IssueReader {
  webOrigin: string;
  kinds: readonly string[];
  /** Numbers per batch. */
  most: number;
  isRepo(name: string): boolean;
  one(repo: string, number: number): Promise<TrackerResult<IssueFacts>>;
  /** Issues of the tracker's own repository; a missing one is absent. */
  many(numbers: readonly number[]): Promise<ReadonlyMap<number, TrackerResult<IssueFacts>>>;
}

export function issuesOf({ repo }: TrackerSettings, reader: IssueReader): Pick<Tracker, "issue" | "issues"> {
  const read = (text: string): { repo: string; number: number } | null => {
    const found = readReference(text, reader.webOrigin, reader.kinds);
    if (found === null || found.number < 1) return null;
    return found.repo !== null && !reader.isRepo(found.repo)
      ? null
      : { repo: found.repo ?? repo, number: found.number };
  };
  const issue = async (text: string): Promise<TrackerResult<IssueFacts>> => {
    const found = read(text);
    return found === null ? absent : await resultOf(async () => await reader.one(found.repo, found.number));
  };
  return {
    issue,
    async issues(references) {
      const results = new Map<string, TrackerResult<IssueFacts>>();
      const own = new Map<string, number>();
      for (const text of references) {
        const found = read(text);
        // Other repositories are rare: one request each.
        if (found === null || !sameRepo(found.repo, repo)) results.set(text, await issue(text));
        else own.set(text, found.number);
      }
      const numbers = [...new Set(own.values())].toSorted((a, b) => a - b);
      for (let at = 0; at < numbers.length; at += reader.most) {
        const batch = numbers.slice(at, at + reader.most);
        const found = await resultOf(async () => known(await reader.many(batch)));
        for (const [text, number] of own) {
          if (!batch.includes(number)) continue;
          results.set(text, found.is === "known" ? (found.value.get(number) ?? absent) : found);
        }
      }
      return results;
    },
  };
}

/** Limits for tests. */
export interface Bounds {
  deadlineMs?: number;
  maxBytes?: number;
}
