/** Calls a route when the component mounts, and again on request. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { CallableOperation, CallOptions } from "../../../client/client.ts";
import type { Output } from "../../../contract/operations.ts";
import { call, sentenceOf } from "./api.ts";

export type Loadable<T> = { is: "loading" } | { is: "known"; value: T } | { is: "failed"; why: string };

/** `options` must be the same object in every render; a null route is not called and stays `loading`. */
export function useQuery<R extends CallableOperation>(
  route: R | null,
  options?: CallOptions<R>,
): [Loadable<Output<R>>, () => void] {
  const [result, setResult] = useState<Loadable<Output<R>>>({ is: "loading" });
  const calls = useRef(0);
  const load = useCallback(
    (signal?: AbortSignal): void => {
      if (route === null) return;
      const number = ++calls.current;
      // Responses overtake each other: the last call counts, not the last response.
      const settle = (next: Loadable<Output<R>>): void => void (number === calls.current && setResult(next));
      call(route, { ...options, ...(signal === undefined ? {} : { signal }) }).then(
        (value) => settle({ is: "known", value }),
        (error: unknown) => {
          if (signal?.aborted !== true) settle({ is: "failed", why: sentenceOf(error) });
        },
      );
    },
    [route, options],
  );
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal);
    return () => stop.abort();
  }, [load]);
  return [result, useCallback(() => load(), [load])];
}
