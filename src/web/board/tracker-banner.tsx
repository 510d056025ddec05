/** Lists the trackers that fail: pull requests are shown as of their last response. */
import { useEffect } from "react";
import { Link } from "wouter";
import type { TrackerJson } from "../../contract/tracker.ts";
import { Age } from "../shared/ui/age.tsx";
import { plainText } from "../shared/ui/safe-text.ts";
import { useQuery } from "../shared/data/use-query.ts";

/** As often as the daemon polls a quiet tracker. */
const refreshMs = 60_000;

export function TrackerBanner() {
  const [trackers, refresh] = useQuery("trackers");
  const any = trackers.is === "known" && trackers.value.length > 0;
  useEffect(() => {
    if (!any) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") refresh();
    }, refreshMs);
    return () => clearInterval(timer);
  }, [refresh, any]);
  const failing = trackers.is === "known" ? trackers.value.filter(isFailing) : [];
  return (
    <div role="status">
      {failing.map((one) => (
        <p key={`${one.project} ${one.type} ${one.repo}`} className="bg-alert-soft px-4 py-1.5 text-alert">
          {one.project}: {trackerText(one)}
          {one.lastOk !== null && (
            <>
              {" "}
              Last response: <Age of={one.lastOk} />.
            </>
          )}{" "}
          Sessions are not affected.{" "}
          <Link href="/settings" className="underline">
            Trackers
          </Link>
        </p>
      ))}
    </div>
  );
}

/** A missing token may be on purpose: the settings page shows it, the board does not. */
function isFailing({ state }: TrackerJson): boolean {
  return state === "failing" || state === "resting";
}

function trackerText({ type, repo, state, why, restsUntil }: TrackerJson): string {
  const name = `${type} ${plainText(repo)}`;
  const detail = why === null ? "" : ` ${plainText(why)}`;
  const until = restsUntil === null ? "" : ` until ${new Date(restsUntil).toLocaleTimeString()}`;
  if (state === "resting") return `${name}: polling paused${until}.${detail}`;
  return `${name} fails.${detail}`;
}
