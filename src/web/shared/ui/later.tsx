/**
 * A view whose code is fetched when it is first wanted. Not by React's `lazy`: that shows what it was waiting for no
 * sooner than 300 ms after the spinner, so a view within a view was 600 ms late although its code was there.
 */
import { useEffect, useState, type ComponentType, type ReactNode } from "react";
import { Spinner } from "./spinner.tsx";

type Arrived<P> = { view: ComponentType<P> } | { fault: unknown };

export function later<P extends object>(fetchCode: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  let known: Arrived<P> | null = null;
  return function Later(props: P): ReactNode {
    const [arrived, setArrived] = useState(known);
    useEffect(() => {
      if (arrived !== null) return undefined;
      let wanted = true;
      const take = (now: Arrived<P>): void => void (wanted && setArrived(now));
      fetchCode().then(
        ({ default: view }) => take((known = { view })),
        // Not kept: the next time it is wanted it may be there.
        (fault: unknown) => take({ fault }),
      );
      return () => {
        wanted = false;
      };
    }, [arrived]);
    if (arrived === null) return <Spinner />;
    if ("fault" in arrived) throw arrived.fault;
    return <arrived.view {...props} />;
  };
}
