/** Clients that issue verbs over the socket or through the CLI, and record each request with its outcome. */
import { HoldfastError } from "../../src/contract/errors.ts";
import type { Fate } from "./ledger.ts";
import type { Run } from "./report.ts";
import type { World } from "./world.ts";

export interface Asked<T> {
  fate: Fate;
  answer: T | null;
  error: string | null;
}

/** Whether the request never reached a daemon. */
export function unasked(error: unknown): boolean {
  const cause = (error as { cause?: { code?: string } }).cause?.code;
  return cause === "ECONNREFUSED" || cause === "ENOENT";
}

/** Errors after which the request may or may not have taken effect. */
const uncertain = new Set(["unreachable", "starting", "internal", "timeout", "launch-failed", "storage"]);

/** Answered after the intent was recorded: another verb overtook it, or the agent did not start. The CLI prints no code. */
const halfway = /meanwhile|before its agent ran|did not start|has not started/i;

/** Runs one request and records it; `session` may become known only from the response. */
export async function ask<T>(
  run: Run,
  world: World,
  request: {
    client: number;
    verb: string;
    session: string | null;
    of?: (answer: T) => string | null;
    refused?: (answer: T) => boolean;
  },
  make: () => Promise<T>,
): Promise<Asked<T>> {
  const { client, verb } = request;
  const entry = {
    client,
    verb,
    session: request.session,
    from: Date.now(),
    to: Infinity,
    fate: "cut" as Fate,
    error: null as string | null,
  };
  world.requests.requests.push(entry);
  try {
    const answer = await make();
    run.count("verbs");
    entry.fate = request.refused?.(answer) === true ? "refused" : "ok";
    entry.session = request.of?.(answer) ?? entry.session;
    return { fate: entry.fate, answer, error: null };
  } catch (error) {
    if (unasked(error)) {
      world.requests.requests.splice(world.requests.requests.indexOf(entry), 1);
      return { fate: "cut", answer: null, error: null };
    }
    run.count("verbs");
    entry.error = error instanceof Error ? error.message : String(error);
    const certain = error instanceof HoldfastError && !uncertain.has(error.code) && !halfway.test(entry.error);
    entry.fate = certain ? "refused" : "cut";
    return { fate: entry.fate, answer: null, error: entry.error };
  } finally {
    entry.to = Date.now();
  }
}

/** The same through the built CLI, which starts a daemon if none runs. */
export async function askCli(
  run: Run,
  world: World,
  request: { client: number; verb: string; session: string | null },
  args: string[],
): Promise<Asked<string>> {
  return ask(run, world, request, async () => {
    const ran = await world.cli(args, { timeoutMs: 180_000 });
    if (ran.code === 0) return ran.stdout;
    // The exit code does not show whether the verb was refused or the daemon died in the middle of it.
    const refused =
      /^(Cannot|Failed to|Session|Unknown|.* is (not|a|already) )/m.test(ran.stderr) &&
      !/did not answer|not running|starting|before it was ready/i.test(ran.stderr);
    throw refused ? new HoldfastError("conflict", ran.stderr) : new Error(ran.stderr);
  });
}
