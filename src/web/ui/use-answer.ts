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
  const ask = useCallback(
    (signal?: AbortSignal): void => {
      call(route, { ...options, ...(signal === undefined ? {} : { signal }) }).then(
        (value) => setAsked({ is: "known", value }),
        (error: unknown) => {
          if (signal?.aborted !== true) setAsked({ is: "failed", why: sentenceOf(error) });
        },
      );
    },
    [route, options],
  );
  useEffect(() => {
    const stop = new AbortController();
    ask(stop.signal);
    return () => stop.abort();
  }, [ask]);
  return [asked, useCallback(() => ask(), [ask])];
}
