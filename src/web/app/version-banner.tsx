import { useLive } from "../shared/data/live.ts";
import { pageBuild } from "../shared/data/page-build.ts";
import { Button } from "../shared/ui/button.tsx";

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
