/** The processes of chat agents, those of an older build first among what to look at. */
import { useState } from "react";
import { Link } from "wouter";
import type { WorkerJson } from "../../contract/wire.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { Age } from "../shared/ui/age.tsx";
import { Button } from "../shared/ui/button.tsx";
import { say } from "../shared/ui/toast.tsx";
import { useAnswer } from "../shared/data/use-query.ts";
import { Answered, Row, Section } from "./section.tsx";

export function Workers() {
  const [workers, again] = useAnswer("workers");
  return (
    <Section
      id="workers"
      title="Chat agents"
      note="One that an older build started goes on as it is. Restarting it replaces its process; the conversation goes on."
    >
      <Answered asked={workers} onAgain={again}>
        {(list) =>
          list.length === 0 ? (
            <p className="text-dim">No chat agent runs.</p>
          ) : (
            <ul className="flex flex-col gap-2">
              {list
                .toSorted((a, b) => Number(b.stale) - Number(a.stale))
                .map((worker) => (
                  <Worker key={worker.session} worker={worker} onRestarted={again} />
                ))}
            </ul>
          )
        }
      </Answered>
    </Section>
  );
}

function Worker({ worker, onRestarted }: { worker: WorkerJson; onRestarted: () => void }) {
  const [busy, setBusy] = useState(false);
  const restart = async (): Promise<void> => {
    setBusy(true);
    try {
      const { done } = await call("acpRestart", { params: { id: worker.session }, body: {} });
      say(done ? `${worker.session} has a fresh agent process.` : `${worker.session}: its agent is still being ended.`);
      onRestarted();
    } catch (error) {
      say(`${worker.session}: ${sentenceOf(error)}`, "fault");
    }
    setBusy(false);
  };
  return (
    <Row
      action={
        <Button size="small" disabled={busy} aria-label={`Restart ${worker.session}`} onClick={() => void restart()}>
          {busy ? "Restarting …" : "Restart"}
        </Button>
      }
    >
      <p className="flex flex-wrap items-baseline gap-x-2">
        <Link
          href={`/s/${worker.session}`}
          className="inline-flex items-center font-mono font-medium text-accent pointer-coarse:min-h-10"
        >
          {worker.session}
        </Link>
        <span className="text-xs text-dim">
          {worker.agent}, {worker.state.replaceAll("_", " ")}
          {worker.pid === null ? "" : `, pid ${worker.pid}`}
        </span>
        <Age of={worker.startedAt} className="text-xs text-dim" />
      </p>
      <p className="text-xs">
        <span className="font-mono text-dim">{worker.build}</span>
        {worker.stale && <span className="text-alert"> stale: of an older build</span>}
        {worker.detached && <span className="text-alert"> runs without its keeper</span>}
      </p>
    </Row>
  );
}
