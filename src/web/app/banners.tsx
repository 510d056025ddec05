import { useEffect, useState, useSyncExternalStore } from "react";
import { wake, pageBuild } from "../shared/data/connect.ts";
import { useLive } from "../shared/data/live.ts";
import { Button } from "../shared/ui/button.tsx";
import { useStore } from "zustand";
import { forgetStates, storage } from "../shared/data/session-cache.ts";

/** A daemon that restarts is away for less than this, mostly: no need to alarm anybody. */
const quietMs = 400;
/** A restart is over by then, also of a machine that is busy: somebody has to start it. */
const longMs = 15_000;

export function ConnectionBanner() {
  const broken = useLive((state) => state.line.is !== "open");
  const known = useLive((state) => state.loaded || state.sessions.size > 0);
  const online = useSyncExternalStore(subscribeOnline, () => navigator.onLine);
  const late = useLasting(broken, quietMs);
  const long = useLasting(broken, longMs);
  return (
    <div role="status">
      {broken && late && (
        <div className="flex items-center gap-3 bg-alert-soft px-4 py-1.5 text-alert">
          <span className="flex-1">
            {online ? "No connection to the daemon." : "This device is offline."} What runs keeps running; this page{" "}
            {known ? "shows the last known state and reconnects by itself." : "fills as soon as it is back."}
            {long && online && (
              <>
                {" "}
                If it stays away, run <code className="font-mono">holdfast dashboard</code>: that starts the daemon and
                gives a link to where it is.
              </>
            )}
          </span>
          <Button size="small" onClick={wake}>
            Try now
          </Button>
        </div>
      )}
    </div>
  );
}

function subscribeOnline(listener: () => void): () => void {
  addEventListener("online", listener);
  addEventListener("offline", listener);
  return () => {
    removeEventListener("online", listener);
    removeEventListener("offline", listener);
  };
}

/** Whether it has been so for this long. */
function useLasting(is: boolean, ms: number): boolean {
  const [lasting, setLasting] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLasting(is), is ? ms : 0);
    return () => clearTimeout(timer);
  }, [is, ms]);
  return lasting;
}

export function StorageBanner() {
  const shown = useStore(storage, ({ full, hidden }) => full && !hidden);
  return (
    <div role="status">
      {shown && (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 bg-alert-soft px-4 py-1.5 text-alert">
          <span className="flex-1 basis-60">
            This browser has no room left to keep things. The daemon has everything that was sent; what you type is kept
            only while this page is open.
          </span>
          <span className="flex gap-2">
            <Button
              size="small"
              onClick={() => {
                forgetStates();
                storage.setState({ full: false });
              }}
            >
              Make room
            </Button>
            <Button size="small" onClick={() => storage.setState({ hidden: true })}>
              Hide
            </Button>
          </span>
        </div>
      )}
    </div>
  );
}

/** After an update the daemon is newer than the page that it once served. */
export function VersionBanner() {
  const daemon = useLive((state) => state.daemon);
  const differs = daemon !== null && daemon.build !== pageBuild;
  return (
    <div role="status">
      {differs && (
        <div className="flex items-center gap-3 bg-busy-soft px-4 py-1.5 text-busy">
          <span className="flex-1">
            The daemon was updated to version {daemon.version}; this page is of another build. Reload to get the new
            page; what you have typed in a session is kept.
          </span>
          <Button size="small" onClick={() => location.reload()}>
            Reload
          </Button>
        </div>
      )}
    </div>
  );
}
