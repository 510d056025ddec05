import { useStore } from "zustand";
import { forgetStates } from "../shared/data/session-cache.ts";
import { storage } from "../shared/data/storage.ts";
import { Button } from "../shared/ui/button.tsx";

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
