import type { WorkerJson } from "../../contract/chat.ts";
import type { SettingsJson } from "../../contract/daemon.ts";
import { Commands } from "../shared/ui/code-text.tsx";
import { Row, Section, WhenLoaded } from "./section.tsx";
import { Link } from "wouter";
import { call } from "../shared/data/api.ts";
import { Age } from "../shared/ui/age.tsx";
import { Button } from "../shared/ui/button.tsx";
import { showToast, useAction } from "../shared/ui/toast.tsx";
import { useQuery } from "../shared/data/use-query.ts";
import { plainText } from "../shared/ui/safe-text.ts";

export function Agents({ agents }: { agents: SettingsJson["agents"] }) {
  return (
    <Section id="agents" title="Agents" note="Built-in agents and those defined in holdfast.yaml.">
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

/** The running chat agents, those of an older build first. */
export function AgentProcesses() {
  const [workers, reload] = useQuery("workers");
  return (
    <Section
      id="workers"
      title="Chat agents"
      note="Agents started by an older build keep running. Restart one to replace its process; its conversation continues."
    >
      <WhenLoaded query={workers} onRetry={reload}>
        {(list) =>
          list.length === 0 ? (
            <p className="text-dim">No running chat agents.</p>
          ) : (
            <ul className="flex flex-col gap-2">
              {list
                .toSorted((a, b) => Number(b.stale) - Number(a.stale))
                .map((worker) => (
                  <AgentProcess key={worker.session} worker={worker} onRestarted={reload} />
                ))}
            </ul>
          )
        }
      </WhenLoaded>
    </Section>
  );
}

function AgentProcess({ worker, onRestarted }: { worker: WorkerJson; onRestarted: () => void }) {
  const { busy, run } = useAction(worker.session);
  const restart = () =>
    run(async () => {
      const { done } = await call("acpRestart", { params: { id: worker.session }, body: {} });
      showToast(done ? `${worker.session} restarted.` : `${worker.session}: the old agent is still stopping.`);
      onRestarted();
    });
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
        {worker.stale && <span className="text-alert"> stale (older build)</span>}
        {worker.detached && <span className="text-alert"> running without its keeper</span>}
      </p>
    </Row>
  );
}

/** Read-only: the rules are edited in the file, out of reach of any page. */
export function PermissionRules() {
  const [permissionRules, reload] = useQuery("permissionRules");
  return (
    <Section
      id="permission-rules"
      title="Permission rules"
      note="The first matching rule answers a chat agent's permission request. All other requests wait for you."
    >
      <WhenLoaded query={permissionRules} onRetry={reload}>
        {({ file, problem, rules }) => (
          <>
            {problem !== null && (
              <p role="alert" className="rounded-md bg-alert-soft p-3 break-words text-alert">
                No rules apply until this is fixed: {plainText(problem)}
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
            <p className="text-xs break-all text-dim">To change them, edit permissions in {file}.</p>
          </>
        )}
      </WhenLoaded>
    </Section>
  );
}
