/** Asks the daemon once when shown, and again when told to. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { CallableRoute, CallOptions } from "../../../client/client.ts";
import type { Answers } from "../../../contract/answers.ts";
import { call, sentenceOf } from "./api.ts";

export type Asked<T> = { is: "asking" } | { is: "known"; value: T } | { is: "failed"; why: string };

/** `options` must be the same object from one drawing to the next. */
export function useAnswer<R extends CallableRoute>(
  route: R,
  options?: CallOptions<R>,
): [Asked<Answers[R]>, () => void] {
  const [asked, setAsked] = useState<Asked<Answers[R]>>({ is: "asking" });
  const asks = useRef(0);
  const ask = useCallback(
    (signal?: AbortSignal): void => {
      const own = ++asks.current;
      // Answers overtake each other: the last one asked for counts, not the last one that came.
      const tell = (next: Asked<Answers[R]>): void => void (own === asks.current && setAsked(next));
      call(route, { ...options, ...(signal === undefined ? {} : { signal }) }).then(
        (value) => tell({ is: "known", value }),
        (error: unknown) => {
          if (signal?.aborted !== true) tell({ is: "failed", why: sentenceOf(error) });
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
