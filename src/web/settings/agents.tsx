import type { SettingsJson, WorkerJson } from "../../contract/wire.ts";
import { Commands } from "../shared/ui/code-text.tsx";
import { Row, Section, WhenLoaded } from "./section.tsx";
import { useState } from "react";
import { Link } from "wouter";
import { call, sentenceOf } from "../shared/data/api.ts";
import { Age } from "../shared/ui/age.tsx";
import { Button } from "../shared/ui/button.tsx";
import { showToast } from "../shared/ui/toast.tsx";
import { useQuery } from "../shared/data/use-query.ts";
import { plainText } from "../shared/ui/safe-text.ts";

export function Agents({ agents }: { agents: SettingsJson["agents"] }) {
  return (
    <Section id="agents" title="Agents" note="Those that are built in, and those of holdfast.yaml.">
      <ul className="flex flex-col gap-2">
        {agents.map(({ id, name, kinds, installed, command, reason, project }) => (
          <Row
            key={`${project ?? ""}/${id}`}
            action={
              <span className={installed ? "text-xs text-good" : "text-xs text-dim"}>
                {installed ? "installed" : "not installed"}
              </span>
            }
          >
            <p className="flex flex-wrap items-baseline gap-x-2">
              <span className="font-medium">{name}</span>
              <span className="text-xs text-dim">
                {kinds.join(", ")}
                {project === undefined ? "" : `, project ${project}`}
              </span>
            </p>
            <p className="truncate font-mono text-xs text-dim" title={command}>
              {command}
            </p>
            {reason !== null && (
              <p className="text-xs break-words">
                <Commands text={reason} />
              </p>
            )}
          </Row>
        ))}
      </ul>
    </Section>
  );
}

export function AgentProcesses() {
  const [workers, again] = useQuery("workers");
  return (
    <Section
      id="workers"
      title="Chat agents"
      note="One that an older build started goes on as it is. Restarting it replaces its process; the conversation goes on."
    >
      <WhenLoaded asked={workers} onAgain={again}>
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
      </WhenLoaded>
    </Section>
  );
}

function Worker({ worker, onRestarted }: { worker: WorkerJson; onRestarted: () => void }) {
  const [busy, setBusy] = useState(false);
  const restart = async (): Promise<void> => {
    setBusy(true);
    try {
      const { done } = await call("acpRestart", { params: { id: worker.session }, body: {} });
      showToast(
        done ? `${worker.session} has a fresh agent process.` : `${worker.session}: its agent is still being ended.`,
      );
      onRestarted();
    } catch (error) {
      showToast(`${worker.session}: ${sentenceOf(error)}`, "fault");
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

export function PermissionRules() {
  const [asked, again] = useQuery("permissionRules");
  return (
    <Section
      id="permission-rules"
      title="Permission rules"
      note="Chat agents' permission requests are answered by the first rule that matches. All others wait for you."
    >
      <WhenLoaded asked={asked} onAgain={again}>
        {({ file, problem, rules }) => (
          <>
            {problem !== null && (
              <p role="alert" className="rounded-md bg-alert-soft p-3 break-words text-alert">
                No rule holds until this is corrected: {plainText(problem)}
              </p>
            )}
            {problem === null && rules.length === 0 && <p className="text-dim">No rules.</p>}
            <ol className="flex flex-col gap-2">
              {rules.map(({ number, text, line }) => (
                <Row key={number} action={<span className="text-xs text-dim">line {line}</span>}>
                  <p className="font-mono text-xs break-words">
                    {number}. {plainText(text)}
                  </p>
                </Row>
              ))}
            </ol>
            <p className="text-xs break-all text-dim">Edit {file}, under permissions.</p>
          </>
        )}
      </WhenLoaded>
    </Section>
  );
}
