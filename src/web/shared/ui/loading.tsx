/** A spinner, and views whose code is loaded on first use. */
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

type Result<P> = { view: ComponentType<P> } | { fault: unknown };

/**
 * Unlike React's `lazy`, which keeps a spinner on screen for at least 300 ms: a view within a view was 600 ms late
 * although its code was loaded.
 */
export function lazyView<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  let loaded: Result<P> | null = null;
  return function LazyView(props: P): ReactNode {
    const [result, setResult] = useState(loaded);
    useEffect(() => {
      if (result !== null) return undefined;
      let mounted = true;
      const settle = (next: Result<P>): void => void (mounted && setResult(next));
      load().then(
        ({ default: view }) => settle((loaded = { view })),
        // Not remembered: the next attempt may succeed.
        (fault: unknown) => settle({ fault }),
      );
      return () => {
        mounted = false;
      };
    }, [result]);
    if (result === null) return <Spinner />;
    if ("fault" in result) throw result.fault;
    return <result.view {...props} />;
  };
}
