/** An untrusted holdfast.yaml: everything it would run or change, and the choice to trust it. */
import { useMemo } from "react";
import { effectOf, isOff, visible } from "../../../contract/trust.ts";
import type { ProjectJson, TrustJson } from "../../../contract/project.ts";
import { call } from "../data/api.ts";
import { Button } from "./button.tsx";
import { Fault } from "./field.tsx";
import { clsx } from "clsx";
import { showToast, useSubmit } from "./toast.tsx";
import { useQuery } from "../data/use-query.ts";

type Project = Pick<ProjectJson, "id" | "trust" | "notices">;

/** Renders nothing if the project's file is trusted and has no notices. */
export function TrustCard({ project, onAnswered }: { project: Project; onAnswered: () => void }) {
  const { notices = [] } = project;
  const off = isOff(project.trust ?? "none");
  if (!off && notices.length === 0) return null;
  return (
    <div
      role="group"
      aria-label={`Trust in ${project.id}`}
      className="flex flex-col gap-2 rounded-md bg-alert-soft p-3"
    >
      {off && <TrustQuestion key={project.id} id={project.id} onAnswered={onAnswered} />}
      {notices.map((notice) => (
        <p key={notice} className="text-xs break-words">
          {notice}
        </p>
      ))}
    </div>
  );
}

function TrustQuestion({ id, onAnswered }: { id: string; onAnswered: () => void }) {
  const options = useMemo(() => ({ params: { id } }), [id]);
  const [trust, reload] = useQuery("trust", options);
  const { busy, fault, submit } = useSubmit();
  const answer = async (question: TrustJson, trusted: boolean): Promise<void> => {
    await submit(async () => {
      // By digest: a file that changed since it was shown here must not become trusted.
      const body = { digest: question.digest ?? "", trust: trusted, seen: question.state };
      await call("trustAnswer", { params: { id }, body });
      showToast(trusted ? `Trusted the holdfast.yaml of ${id}.` : `Sessions of ${id} use defaults.`);
      onAnswered();
    });
    reload();
  };
  return (
    <>
      <p className="font-medium text-alert">
        The holdfast.yaml of {id} is not trusted. Sessions use defaults until you trust it.
      </p>
      {trust.is === "failed" && <p role="alert">{trust.why}</p>}
      {trust.is === "known" && (
        <>
          <Parts question={trust.value} />
          <Fault text={fault} />
          <div className="flex flex-wrap gap-2">
            <Button size="small" disabled={busy} onClick={() => void answer(trust.value, true)}>
              Trust this file
            </Button>
            {trust.value.state !== "declined" && (
              <Button size="small" variant="quiet" disabled={busy} onClick={() => void answer(trust.value, false)}>
                Use defaults
              </Button>
            )}
          </div>
        </>
      )}
    </>
  );
}

function Parts({ question: { file, parts, changes } }: { question: TrustJson }) {
  const shown = changes ?? parts.map((part) => ({ change: "same" as const, ...part }));
  return (
    <>
      <p className="text-xs break-all">
        {changes === null ? `${file} would run or change:` : `${file} has changed since your last decision:`}
      </p>
      <ul className="flex max-h-80 flex-col gap-1 overflow-y-auto font-mono text-xs" tabIndex={0} aria-label="Settings">
        {shown.map(({ change, key, value }, at) => (
          <li key={`${at} ${key}`} className={clsx("break-all", change === "removed" && "text-dim line-through")}>
            <span className="select-none">{change === "same" ? "" : change === "added" ? "+ " : "- "}</span>
            {key}: {visible(value)}
            <span className="block font-sans text-dim">{effectOf(key)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
