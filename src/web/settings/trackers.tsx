/** How the projects' trackers are doing; nothing, where the daemon asks none. */
import { Age } from "../shared/ui/age.tsx";
import { Button } from "../shared/ui/button.tsx";
import { plainText } from "../shared/ui/plain-text.ts";
import { useAnswer } from "../shared/data/use-query.ts";
import { Row, Section } from "./section.tsx";

export function Trackers() {
  const [told, again] = useAnswer("trackers");
  // Where it could not be asked, the rest of the page says whether the daemon answers at all.
  if (told.is !== "known" || told.value.length === 0) return null;
  return (
    <Section
      id="trackers"
      title="Trackers"
      action={
        <Button size="small" onClick={again}>
          Look again
        </Button>
      }
    >
      <ul className="flex flex-col gap-2">
        {told.value.map(({ project, type, repo, state, why, lastOk, remaining }) => (
          <Row
            key={`${project} ${type} ${repo}`}
            action={
              <span className={state === "ok" ? "text-xs text-good" : "text-xs text-alert"}>
                {state.replaceAll("-", " ")}
              </span>
            }
          >
            <p>
              <span className="font-medium">{project}</span>{" "}
              <span className="text-xs text-dim">
                {type} {plainText(repo)}
              </span>
            </p>
            {why !== null && <p className="text-xs break-words">{plainText(why)}</p>}
            <p className="text-xs text-dim">
              {lastOk !== null && (
                <>
                  Last answer: <Age of={lastOk} />
                </>
              )}
              {remaining !== null && ` · ${remaining} requests left`}
            </p>
          </Row>
        ))}
      </ul>
    </Section>
  );
}
