/** The parts that every adapter uses: results, schemas, and what an adapter returns. */
import * as z from "zod/mini";
import type { TrackerResult, Tracker } from "../../ports/tracker.ts";
import { Unanswered } from "./http.ts";

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

export interface OpenedTracker extends Omit<Tracker, "budget"> {
  counts(): { requests: number; notModified: number };
  close(): void;
}

/** Limits for tests. */
export interface Bounds {
  deadlineMs?: number;
  maxBytes?: number;
}
