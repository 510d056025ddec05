/** Asks the daemon once when shown, and again when told to. */
import { useCallback, useEffect, useState } from "react";
import type { CallableRoute, CallOptions } from "../../client/client.ts";
import type { Answers } from "../../protocol/wire.ts";
import { call, sentenceOf } from "../state/api.ts";

export type Asked<T> = { is: "asking" } | { is: "known"; value: T } | { is: "failed"; why: string };

/** `options` must be the same object from one drawing to the next. */
export function useAnswer<R extends CallableRoute>(
  route: R,
  options?: CallOptions<R>,
): [Asked<Answers[R]>, () => void] {
  const [asked, setAsked] = useState<Asked<Answers[R]>>({ is: "asking" });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    call(route, { ...options, signal: stop.signal }).then(
      (value) => setAsked({ is: "known", value }),
      (error: unknown) => {
        if (!stop.signal.aborted) setAsked({ is: "failed", why: sentenceOf(error) });
      },
    );
    return () => stop.abort();
  }, [route, options, round]);
  const again = useCallback(() => setRound((count) => count + 1), []);
  return [asked, again];
}
