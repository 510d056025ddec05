/** Why a session ended, its processes, its files in the trash, and its event log. */
import type { ReactNode } from "react";
import type { SessionJson } from "../../contract/session.ts";
import type { EventJson } from "../../contract/stream.ts";
import { useQuery } from "../shared/data/use-query.ts";
import { Age } from "../shared/ui/age.tsx";
import { Button } from "../shared/ui/button.tsx";
import { EventList, useEventLog } from "./event-list.tsx";
import { TrashFacts } from "./trash-facts.tsx";
import { startVerb } from "../shared/verbs/verbs.tsx";
import { visibleText } from "../shared/ui/safe-text.ts";
import { formatDuration } from "../../model/duration.ts";
import { actorLabel, endText } from "../../model/event-text.ts";

export default function EventsView({ session }: { session: SessionJson }) {
  const log = useEventLog(session.id);
  return (
    <div className="absolute inset-0 overflow-y-auto">
      <div className="mx-auto flex w-full max-w-5xl flex-col gap-4 p-3 sm:p-4">
        {session.end !== null && <EndPanel end={session.end} events={log.events ?? []} />}
        <Processes session={session} />
        {session.trash !== null && <TrashedFiles session={session} trash={session.trash} />}
        <EventList log={log} />
      </div>
    </div>
  );
}

function Panel({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section aria-label={title} className="flex flex-col gap-2 rounded-lg border border-line bg-panel p-3 sm:p-4">
      <h2 className="font-semibold">{title}</h2>
      {children}
    </section>
  );
}

function EndPanel({ end, events }: { end: NonNullable<SessionJson["end"]>; events: readonly EventJson[] }) {
  const last = events.findLast((event) => event.type === "run.ended" || event.type === "launch.failed");
  const uptime = last?.type === "run.ended" ? last.uptimeMs : undefined;
  const reason = last?.type === "launch.failed" ? last.reason : undefined;
  const rows: [string, ReactNode][] = [
    ["By", actorLabel(end.by)],
    ["When", <Age key="at" of={end.at} />],
    ["Exit code", end.exitCode ?? "none"],
    ["Signal", end.signal ?? "none"],
    ["Uptime", typeof uptime === "number" ? formatDuration(uptime) : "unknown"],
  ];
  return (
    <Panel title="Why did it end?">
      <p>
        {endText(end.how)} {typeof reason === "string" ? visibleText(reason) : ""}
      </p>
      <dl className="flex flex-wrap gap-x-6 gap-y-1">
        {rows.map(([name, value]) => (
          <div key={name} className="flex gap-2">
            <dt className="text-dim">{name}</dt>
            <dd className="tabular-nums">{value}</dd>
          </div>
        ))}
      </dl>
      {end.lastLines.length > 0 && (
        <pre
          // Focusable, so that the keyboard can scroll it.
          tabIndex={0}
          aria-label="Last lines"
          className="max-h-72 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs"
        >
          {visibleText(end.lastLines.join("\n"))}
        </pre>
      )}
    </Panel>
  );
}

function Processes({ session }: { session: SessionJson }) {
  return (
    <Panel title="Processes">
      {session.processes.length === 0 ? (
        <p className="text-dim">No running processes.</p>
      ) : (
        <table className="w-full max-w-md text-left tabular-nums">
          <thead className="text-xs text-dim">
            <tr>
              <th className="py-1 font-medium">Process</th>
              <th className="py-1 font-medium">PID</th>
              <th className="py-1 font-medium">Age</th>
            </tr>
          </thead>
          <tbody>
            {session.processes.map(({ pid, what, startedAt }) => (
              <tr key={pid} className="border-t border-line">
                <td className="py-1">{what}</td>
                <td className="py-1 font-mono">{pid}</td>
                <td className="py-1">
                  <Age of={startedAt} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}

function TrashedFiles({ session, trash }: { session: SessionJson; trash: string }) {
  const [all] = useQuery("trash");
  const entry = all.is === "known" ? all.value.find(({ id }) => id === trash) : undefined;
  return (
    <Panel title="Files in the trash">
      <p>The worktree is unchanged, with uncommitted and ignored files. Restore moves it back.</p>
      {entry !== undefined && <TrashFacts entry={entry} />}
      <div>
        <Button onClick={() => startVerb("restore", session)}>Restore</Button>
      </div>
    </Panel>
  );
}
