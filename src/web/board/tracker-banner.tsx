/** Says which trackers do not answer: what is shown of pull requests is then as old as it is. */
import { useEffect } from "react";
import { Link } from "wouter";
import type { TrackerJson } from "../../contract/wire.ts";
import { Age } from "../shared/ui/age.tsx";
import { plainText } from "../shared/ui/safe-text.ts";
import { useQuery } from "../shared/data/use-query.ts";

/** As often as the daemon asks them, when it asks seldom. */
const againMs = 60_000;

export function TrackerBanner() {
  const [told, again] = useQuery("trackers");
  // Without a tracker nothing is asked again.
  const any = told.is === "known" && told.value.length > 0;
  useEffect(() => {
    if (!any) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") again();
    }, againMs);
    return () => clearInterval(timer);
  }, [again, any]);
  const troubled = told.is === "known" ? told.value.filter(isTroubled) : [];
  return (
    <div role="status">
      {troubled.map((one) => (
        <p key={`${one.project} ${one.type} ${one.repo}`} className="bg-alert-soft px-4 py-1.5 text-alert">
          {one.project}: {trackerText(one)}
          {one.lastOk !== null && (
            <>
              {" "}
              Last answer: <Age of={one.lastOk} />.
            </>
          )}{" "}
          Sessions are not touched by it.{" "}
          <Link href="/settings" className="underline">
            Trackers
          </Link>
        </p>
      ))}
    </div>
  );
}

/** Without a token nothing was ever asked, maybe on purpose: that stands in the settings and need not be said here. */
function isTroubled({ state }: TrackerJson): boolean {
  return state === "failing" || state === "resting";
}

function trackerText({ type, repo, state, why, restsUntil }: TrackerJson): string {
  const name = `${type} ${plainText(repo)}`;
  const said = why === null ? "" : ` ${plainText(why)}`;
  // By its own wish, or because it failed just now.
  const until = restsUntil === null ? "" : ` until ${new Date(restsUntil).toLocaleTimeString()}`;
  if (state === "resting") return `${name} is left alone${until}.${said}`;
  return `${name} fails.${said}`;
}
