import { useEffect, useState } from "react";
import { wake } from "../state/begin.ts";
import { useLive } from "../state/live.ts";
import { Button } from "../ui/button.tsx";

/** A daemon that restarts is away for less than this, mostly: no need to alarm anybody. */
const quietMs = 400;

export function ConnectionBanner() {
  const line = useLive((state) => state.line);
  const [shown, setShown] = useState(false);
  const broken = line.is !== "open";
  useEffect(() => {
    if (!broken) return setShown(false);
    const timer = setTimeout(() => setShown(true), quietMs);
    return () => clearTimeout(timer);
  }, [broken]);
  return (
    <div role="status" aria-live="polite">
      {shown && (
        <div className="flex items-center gap-3 bg-alert-soft px-4 py-1.5 text-alert">
          <span className="flex-1">
            No connection to the daemon. What runs keeps running; this page shows the last known state and reconnects by
            itself.
          </span>
          <Button size="small" onClick={wake}>
            Try now
          </Button>
        </div>
      )}
    </div>
  );
}
