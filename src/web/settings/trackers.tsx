/** How the projects' trackers are doing; nothing, where the daemon asks none. */
import { useEffect, useState } from "react";
import type { CallableRoute } from "../../client/client.ts";
import { routes } from "../../protocol/http.ts";
import { call } from "../state/api.ts";
import { Row, Section } from "./section.tsx";

interface Told {
  project: string;
  type: string;
  repo: string;
  state: string;
  why: string | null;
}

const route = "trackers";

export function Trackers() {
  const [told, setTold] = useState<Told[]>([]);
  useEffect(() => {
    if (!Object.hasOwn(routes, route)) return;
    call(route as CallableRoute).then(
      (answer) => setTold(answer as unknown as Told[]),
      // The rest of the page says whether the daemon answers at all.
      () => undefined,
    );
  }, []);
  if (told.length === 0) return null;
  return (
    <Section id="trackers" title="Trackers">
      <ul className="flex flex-col gap-2">
        {told.map(({ project, type, repo, state, why }) => (
          <Row
            key={`${project} ${repo}`}
            action={<span className={state === "ok" ? "text-xs text-good" : "text-xs text-alert"}>{state}</span>}
          >
            <p>
              <span className="font-medium">{project}</span>{" "}
              <span className="text-xs text-dim">
                {type} {repo}
              </span>
            </p>
            {why !== null && <p className="text-xs">{why}</p>}
          </Row>
        ))}
      </ul>
    </Section>
  );
}
