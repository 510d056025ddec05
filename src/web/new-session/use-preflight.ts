/** Checks for problems, a moment after the last change of the form. */
import { useCallback, useEffect, useState } from "react";
import { HoldfastError } from "../../contract/errors.ts";
import type { PreflightJson, SpawnRequest } from "../../contract/spawn.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import type { Loadable } from "../shared/data/use-query.ts";

/** Short enough to finish before the button is reached, long enough not to run on every keystroke. */
const pauseMs = 350;

/** If the check itself fails, the spawn reports any problem. */
export type Preflight = Loadable<PreflightJson>;

export function usePreflight(request: SpawnRequest): [Preflight, () => void] {
  const [result, setResult] = useState<{ of: string; preflight: Preflight }>({ of: "", preflight: { is: "loading" } });
  const [round, setRound] = useState(0);
  // Preflight ignores the prompt: typing it must not trigger another check.
  const body = JSON.stringify({ ...request, prompt: undefined });
  const current = `${round} ${body}`;
  useEffect(() => {
    const stop = new AbortController();
    const run = async (): Promise<void> => {
      const preflight = await check(body, stop.signal);
      if (!stop.signal.aborted) setResult({ of: current, preflight });
    };
    const timer = setTimeout(() => void run(), pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [body, current]);
  const recheck = useCallback(() => setRound((count) => count + 1), []);
  return [result.of === current ? result.preflight : { is: "loading" }, recheck];
}

async function check(body: string, signal: AbortSignal): Promise<Preflight> {
  try {
    return { is: "known", value: await call("preflight", { body: JSON.parse(body) as SpawnRequest, signal }) };
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "invalid") return { is: "known", value: asProblem(error) };
    return { is: "failed", why: sentenceOf(error) };
  }
}

function asProblem(error: HoldfastError): PreflightJson {
  const problem = { message: error.message, hint: error.hint ?? null };
  return { problems: [problem], branch: null, base: null, id: null, agent: null, kind: "terminal" };
}
