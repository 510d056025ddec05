import { CircleAlert, CircleCheck, CircleX, Info } from "lucide-react";
import type { FindingJson } from "../../contract/daemon.ts";
import { Button } from "../shared/ui/button.tsx";
import { useQuery } from "../shared/data/use-query.ts";
import { WhenLoaded, Section } from "./section.tsx";

const everything = { query: { full: 1 } };
const levels = {
  fail: { Sign: CircleX, tone: "text-danger", label: "Error:" },
  warn: { Sign: CircleAlert, tone: "text-alert", label: "Warning:" },
  info: { Sign: Info, tone: "text-busy", label: "Note:" },
  ok: { Sign: CircleCheck, tone: "text-good", label: "OK:" },
} as const;
const order: FindingJson["level"][] = ["fail", "warn", "info", "ok"];

export function Doctor() {
  const [findings, reload] = useQuery("doctor", everything);
  return (
    <Section
      id="doctor"
      title="Doctor"
      note="Checks of the daemon and this machine."
      action={
        <Button size="small" onClick={reload}>
          Check again
        </Button>
      }
    >
      <WhenLoaded query={findings} onRetry={reload}>
        {(list) => (
          <ul className="flex flex-col gap-2">
            {list
              .toSorted((a, b) => order.indexOf(a.level) - order.indexOf(b.level))
              .map((finding) => (
                <Finding key={`${finding.check} ${finding.message}`} finding={finding} />
              ))}
          </ul>
        )}
      </WhenLoaded>
    </Section>
  );
}

function Finding({ finding: { level, message, fix } }: { finding: FindingJson }) {
  const { Sign, tone, label } = levels[level];
  return (
    <li className="flex items-start gap-2">
      <Sign size={16} aria-label={label} className={`mt-0.5 shrink-0 ${tone}`} />
      <span className="min-w-0 break-words">
        {message} {fix !== null && <span className="text-dim">{fix}</span>}
      </span>
    </li>
  );
}
