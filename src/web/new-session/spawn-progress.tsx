/** The progress of a spawn, step by step as the daemon reports it. */
import { useEffect, useState } from "react";
import { Check, LoaderCircle, X } from "lucide-react";
import { Link, useLocation } from "wouter";
import { onEvents, useSession } from "../shared/data/live.ts";
import { plainText } from "../shared/ui/safe-text.ts";
import { Button } from "../shared/ui/button.tsx";

type Mark = "pending" | "now" | "done" | "failed";

export function SpawnProgress({ id, onBack }: { id: string; onBack: () => void }) {
  const session = useSession(id);
  const [, navigate] = useLocation();
  const [output, setOutput] = useState("");
  useEffect(
    () =>
      onEvents(id, (events) => {
        const text = events.flatMap((event) => (event.type === "workspace.output" ? [event.text] : []));
        if (text.length > 0) setOutput((before) => `${before}${text.join("")}`.slice(-4_000));
      }),
    [id],
  );
  const ready = session?.workspace === "ready";
  const isUp = session !== undefined && session.status !== "starting";
  const failed = session?.status === "failed" || session?.status === "exited" || session?.intent.want === "killed";
  useEffect(() => {
    if (isUp && !failed) navigate(`/s/${id}`, { replace: true });
  }, [isUp, failed, id, navigate]);
  const steps: [string, Mark][] = [
    [`Session ${id} created`, session === undefined ? "now" : "done"],
    ["Worktree and branch", mark(session !== undefined, ready, failed)],
    ["Agent", mark(ready, isUp && !failed, failed && ready)],
  ];
  return (
    <div className="flex flex-col gap-4">
      <ol role="status" className="flex flex-col gap-2">
        {steps.map(([name, state]) => (
          <li key={name} className="flex items-center gap-2">
            <Sign state={state} />
            <span className={state === "pending" ? "text-dim" : ""}>{name}</span>
          </li>
        ))}
      </ol>
      {output !== "" && (
        <pre className="max-h-48 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs whitespace-pre-wrap">
          {plainText(output)}
        </pre>
      )}
      {failed && (
        <div role="alert" className="flex flex-col gap-2">
          <p className="text-danger">{session?.reason ?? "The session did not start."}</p>
          {session?.end !== null && session !== undefined && session.end.lastLines.length > 0 && (
            <pre className="overflow-auto rounded-md bg-sunken p-2 font-mono text-xs whitespace-pre-wrap">
              {plainText(session.end.lastLines.join("\n"))}
            </pre>
          )}
          <p className="text-dim">Your inputs are still in the form.</p>
          <div className="flex gap-2">
            <Button variant="primary" onClick={onBack}>
              Back to the form
            </Button>
            <Button onClick={() => navigate(`/s/${id}`)}>Open {id}</Button>
          </div>
        </div>
      )}
      {!failed && (
        <p className="text-xs text-dim">
          You can leave this page; the spawn continues.{" "}
          <Link href={`/s/${id}`} className="text-accent underline">
            Open {id} now
          </Link>
        </p>
      )}
    </div>
  );
}

function mark(begun: boolean, done: boolean, failed: boolean): Mark {
  if (done) return "done";
  if (failed) return "failed";
  return begun ? "now" : "pending";
}

function Sign({ state }: { state: Mark }) {
  if (state === "done") return <Check size={16} className="text-good" aria-label="Done:" />;
  if (state === "failed") return <X size={16} className="text-danger" aria-label="Failed:" />;
  if (state === "now") return <LoaderCircle size={16} className="animate-spin text-busy" aria-label="In progress:" />;
  return <span aria-hidden className="mx-1 size-2 rounded-full bg-line-strong" />;
}
