/** Asks the daemon once when shown, and again when told to. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { CallableOperation, CallOptions } from "../../client/client.ts";
import type { Output } from "../../contract/operations.ts";
import { call, sentenceOf } from "../state/api.ts";

export type Asked<T> = { is: "asking" } | { is: "known"; value: T } | { is: "failed"; why: string };

/** `options` must be the same object from one drawing to the next. */
export function useAnswer<R extends CallableOperation>(
  route: R,
  options?: CallOptions<R>,
): [Asked<Output<R>>, () => void] {
  const [asked, setAsked] = useState<Asked<Output<R>>>({ is: "asking" });
  const asks = useRef(0);
  const ask = useCallback(
    (signal?: AbortSignal): void => {
      const own = ++asks.current;
      // Answers overtake each other: the last one asked for counts, not the last one that came.
      const tell = (next: Asked<Output<R>>): void => void (own === asks.current && setAsked(next));
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
