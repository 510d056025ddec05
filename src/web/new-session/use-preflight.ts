/** Asks what would go wrong, a moment after the last change of the form. */
import { useCallback, useEffect, useState } from "react";
import type { SpawnRequest } from "../../contract/command.ts";
import { HoldfastError } from "../../contract/error.ts";
import type { PreflightJson } from "../../contract/wire.ts";
import { call, sentenceOf } from "../shared/data/api.ts";

/** Short enough to be there before the button is reached, long enough not to ask at every letter. */
const pauseMs = 350;

export type Preflight =
  | { is: "loading" }
  | { is: "known"; answer: PreflightJson }
  /** It could not be asked; the spawn itself will say what is wrong. */
  | { is: "failed"; why: string };

export function usePreflight(request: SpawnRequest): [Preflight, () => void] {
  const [told, setTold] = useState<{ of: string; preflight: Preflight }>({ of: "", preflight: { is: "loading" } });
  const [round, setRound] = useState(0);
  // What the session shall do is no matter of preflight: it is not asked again for each word of it.
  const body = JSON.stringify({ ...request, prompt: undefined });
  const wanted = `${round} ${body}`;
  useEffect(() => {
    const stop = new AbortController();
    const ask = async (): Promise<void> => {
      const preflight = await check(body, stop.signal);
      if (!stop.signal.aborted) setTold({ of: wanted, preflight });
    };
    const timer = setTimeout(() => void ask(), pauseMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [body, wanted]);
  const again = useCallback(() => setRound((count) => count + 1), []);
  return [told.of === wanted ? told.preflight : { is: "loading" }, again];
}

async function check(body: string, signal: AbortSignal): Promise<Preflight> {
  try {
    return { is: "known", answer: await call("preflight", { body: JSON.parse(body) as SpawnRequest, signal }) };
  } catch (error) {
    if (error instanceof HoldfastError && error.code === "invalid") return { is: "known", answer: asProblem(error) };
    return { is: "failed", why: sentenceOf(error) };
  }
}

function asProblem(error: HoldfastError): PreflightJson {
  const problem = { message: error.message, hint: error.hint ?? null };
  return { problems: [problem], branch: null, base: null, id: null, agent: null, kind: "terminal" };
}
