import { LoaderCircle } from "lucide-react";
import { useEffect, useState, type ComponentType, type ReactNode } from "react";

export function Spinner({ label = "Loading" }: { label?: string }) {
  return (
    <span role="status" className="inline-flex items-center gap-2 p-4 text-dim">
      <LoaderCircle size={16} className="animate-spin" aria-hidden />
      {label} …
    </span>
  );
}

type Arrived<P> = { view: ComponentType<P> } | { fault: unknown };

export function lazyView<P extends object>(fetchCode: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
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
