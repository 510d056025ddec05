/** Strips below the header: the daemon is unreachable, was updated, or the browser's storage is full. */
import { useEffect, useState, useSyncExternalStore, type ReactNode } from "react";
import { useStore } from "zustand";
import { pageBuild, wake } from "../shared/data/connect.ts";
import { useLive } from "../shared/data/live.ts";
import { dropStates } from "../shared/data/session-cache.ts";
import { storage } from "../shared/data/storage.ts";
import { Button } from "../shared/ui/button.tsx";

/** A daemon restart usually takes less than this: not worth an alarm. */
const quietMs = 400;
/** A restart is over by then, even on a busy machine: the daemon has to be started. */
const longMs = 15_000;

export function Banners() {
  return (
    <>
      <ConnectionBanner />
      <VersionBanner />
      <StorageBanner />
    </>
  );
}

/** The status region exists before its text: screen readers announce only changes inside an existing one. */
function Banner({ shown, tone, children }: { shown: boolean; tone: "alert" | "busy"; children: ReactNode }) {
  const colors = tone === "alert" ? "bg-alert-soft text-alert" : "bg-busy-soft text-busy";
  return (
    <div role="status">
      {shown && <div className={`flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-1.5 ${colors}`}>{children}</div>}
    </div>
  );
}

function ConnectionBanner() {
  const broken = useLive((state) => !state.connected);
  const known = useLive((state) => state.loaded || state.sessions.size > 0);
  const online = useSyncExternalStore(subscribeOnline, () => navigator.onLine);
  const late = useLasting(broken, quietMs);
  const long = useLasting(broken, longMs);
  return (
    <Banner shown={broken && late} tone="alert">
      <span className="flex-1 basis-60">
        {online ? "No connection to the daemon." : "This device is offline."} Sessions keep running.{" "}
        {known
          ? "Showing the last known state. Reconnecting automatically."
          : "This page fills in as soon as the connection returns."}
        {long && online && (
          <>
            {" "}
            If it does not return, run <code className="font-mono">holdfast dashboard</code>: it starts the daemon and
            prints a link to it.
          </>
        )}
      </span>
      <Button size="small" onClick={wake}>
        Try now
      </Button>
    </Banner>
  );
}

/** After an update, the daemon is newer than the page it served. */
function VersionBanner() {
  const daemon = useLive((state) => state.daemon);
  const differs = daemon !== null && daemon.build !== pageBuild;
  return (
    <Banner shown={differs} tone="busy">
      <span className="flex-1 basis-60">
        The daemon was updated to version {daemon?.version}. Reload to get the matching page; unsent text in sessions is
        kept.
      </span>
      <Button size="small" onClick={() => location.reload()}>
        Reload
      </Button>
    </Banner>
  );
}

function StorageBanner() {
  const shown = useStore(storage, ({ full, hidden }) => full && !hidden);
  const clear = (): void => {
    dropStates();
    storage.setState({ full: false });
  };
  return (
    <Banner shown={shown} tone="alert">
      <span className="flex-1 basis-60">
        This browser&apos;s storage is full. The daemon has everything you sent; unsent text is kept only while this
        page is open.
      </span>
      <span className="flex gap-2">
        <Button size="small" onClick={clear}>
          Free up space
        </Button>
        <Button size="small" onClick={() => storage.setState({ hidden: true })}>
          Hide
        </Button>
      </span>
    </Banner>
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

/** Whether `is` has been true for `ms`. */
function useLasting(is: boolean, ms: number): boolean {
  const [lasting, setLasting] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLasting(is), is ? ms : 0);
    return () => clearTimeout(timer);
  }, [is, ms]);
  return lasting;
}
