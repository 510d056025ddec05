/** Explains what a verb does to processes and work, asks for its inputs, runs it, and shows the result. */
import { useMemo, useState, type ReactNode } from "react";
import type { VerbResponse } from "../../../contract/session.ts";
import type { WorkJson } from "../../../contract/worktree.ts";
import { call, sentenceOf } from "../data/api.ts";
import { useQuery, type Loadable } from "../data/use-query.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Checkbox, Fault, Field, Form, Select, TextInput } from "../ui/field.tsx";
import { plainText, workCounts } from "../ui/safe-text.ts";
import { showToast, useSubmit } from "../ui/toast.tsx";
import { otherKind, verbs } from "../../../model/verbs.ts";
import type { PendingVerb } from "./verbs.tsx";

/** The command line accepts any duration. */
const hourMs = 3_600_000;
const snoozeTimes: { label: string; ms: number }[] = [
  { label: "in one hour", ms: hourMs },
  { label: "in three hours", ms: 3 * hourMs },
  { label: "in eight hours", ms: 8 * hourMs },
  { label: "in one day", ms: 24 * hourMs },
  { label: "in three days", ms: 72 * hourMs },
  { label: "in one week", ms: 168 * hourMs },
];

interface Inputs {
  title: string;
  forMs: number;
  fresh: boolean;
}

export default function VerbDialog({ pending, onClose }: { pending: PendingVerb; onClose: () => void }) {
  const { verb, session } = pending;
  const info = verbs[verb];
  const { busy, fault, submit } = useSubmit();
  const [answer, setAnswer] = useState<VerbResponse | null>(null);
  const [inputs, setInputs] = useState<Inputs>({ title: session.title, forMs: hourMs, fresh: false });
  const options = useMemo(() => ({ params: { id: session.id } }), [session.id]);
  const [work] = useQuery(info.movesWork ? "work" : null, options);

  const run = async (): Promise<void> => {
    const result = await runVerb(pending, inputs);
    if (result !== null && (result.notes.length > 0 || result.remaining.length > 0 || !result.done)) {
      return setAnswer(result);
    }
    showToast(`${session.id} ${info.done}.`);
    onClose();
  };

  if (answer !== null) {
    return (
      <Dialog
        open
        onClose={onClose}
        title={answer.done ? `${session.id} ${info.done}` : `${info.label} is still in progress`}
        actions={
          <Button variant="primary" onClick={onClose}>
            Close
          </Button>
        }
      >
        <Notes answer={answer} />
      </Dialog>
    );
  }
  const label = verb === "convert" ? `Convert to ${otherKind(session.kind)}` : info.label;
  const isReady =
    !busy && (!info.movesWork || work.is !== "loading") && (verb !== "rename" || inputs.title.trim() !== "");
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${label} ${session.id}`}
      description={
        <>
          <p className="mb-1 break-words text-text">{plainText(session.title)}</p>
          <p>{info.effect(session)}</p>
        </>
      }
    >
      <Form className="flex flex-col gap-3" onSubmit={() => void (isReady && submit(run))}>
        <VerbFields verb={verb} inputs={inputs} onChange={(part) => setInputs((now) => ({ ...now, ...part }))} />
        {info.movesWork && <LocalWork work={work} />}
        <Fault text={fault} />
        <div className="flex flex-wrap items-center justify-end gap-2">
          {busy && (
            <span role="status" className="mr-auto text-dim">
              {progressOf(pending)}
            </span>
          )}
          <Button onClick={onClose}>{busy ? "Hide" : "Cancel"}</Button>
          <Button type="submit" variant={info.movesWork ? "danger" : "primary"} disabled={!isReady}>
            {info.movesWork && hasWork(work) ? `${label} and keep the work in the trash` : label}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}

interface VerbFieldsProps {
  verb: PendingVerb["verb"];
  inputs: Inputs;
  onChange: (part: Partial<Inputs>) => void;
}

function VerbFields({ verb, inputs: { title, forMs, fresh }, onChange }: VerbFieldsProps): ReactNode {
  if (verb === "rename") {
    return (
      <Field label="Title">
        <TextInput value={title} maxLength={200} onChange={({ target }) => onChange({ title: target.value })} />
      </Field>
    );
  }
  if (verb === "snooze") {
    return (
      <Field label="Until">
        <Select value={forMs} onChange={({ target }) => onChange({ forMs: Number(target.value) })}>
          {snoozeTimes.map(({ label, ms }) => (
            <option key={ms} value={ms}>
              {label}
            </option>
          ))}
        </Select>
      </Field>
    );
  }
  if (verb !== "convert") return null;
  return (
    <Checkbox
      className="items-start gap-2 py-1 [&>input]:mt-0.5"
      checked={fresh}
      onChange={(next) => onChange({ fresh: next })}
    >
      <span>
        Start a new conversation
        <span className="block text-xs text-dim">
          Discards the current conversation, for agents that cannot move it. Files are kept.
        </span>
      </span>
    </Checkbox>
  );
}

/** Enough to recognize them; the rest is counted. */
const shownCommits = 5;

/** Uncommitted and unpushed work in the worktree, before a kill or delete. */
function LocalWork({ work }: { work: Loadable<WorkJson> }): ReactNode {
  if (work.is === "loading") {
    return (
      <p role="status" className="text-dim">
        Checking for uncommitted and unpushed work …
      </p>
    );
  }
  if (work.is === "failed") {
    return (
      <p role="alert" className="rounded-md bg-alert-soft p-3 text-alert">
        Could not check for uncommitted or unpushed work: {work.why} Nothing is deleted; the worktree moves to the trash
        unchanged.
      </p>
    );
  }
  const { unpushed, where } = work.value;
  if (!hasWork(work)) return <p className="text-dim">No uncommitted or unpushed work. {where}</p>;
  return (
    <div role="alert" className="flex flex-col gap-1.5 rounded-md bg-alert-soft p-3">
      <p className="font-medium text-alert">This work exists nowhere else: {workCounts(work.value).join(" and ")}.</p>
      {unpushed.length > 0 && (
        <ul className="font-mono text-xs break-words">
          {unpushed.slice(0, shownCommits).map((commit) => (
            <li key={commit}>{commit}</li>
          ))}
          {unpushed.length > shownCommits && <li>and {unpushed.length - shownCommits} more</li>}
        </ul>
      )}
      <p className="break-words">{where}</p>
    </div>
  );
}

function hasWork(work: Loadable<WorkJson>): boolean {
  return work.is === "known" && (work.value.uncommitted > 0 || work.value.unpushed.length > 0);
}

function progressOf({ verb }: PendingVerb): string {
  if (verb === "rename") return "Renaming …";
  if (verbs[verb].endsWith === "up") return "Starting the agent …";
  return "Stopping the processes …";
}

/** Null if the response has no notes. */
async function runVerb({ verb, session }: PendingVerb, { title, forMs, fresh }: Inputs): Promise<VerbResponse | null> {
  const params = { id: session.id };
  if (verb === "snooze") return call(verb, { params, body: { forMs } });
  if (verb === "convert") return call(verb, { params, body: { kind: otherKind(session.kind), fresh } });
  if (verb !== "rename") return call(verb === "restart" ? "acpRestart" : verb, { params, body: {} });
  await call(verb, { params, body: { title: title.trim() } });
  return null;
}

/** Runs a verb that needs no dialog; false if it needs one. */
export function runImmediate({ verb, session }: PendingVerb): boolean {
  if (!verbs[verb].immediate) return false;
  runVerb({ verb, session }, { title: "", forMs: 0, fresh: false }).then(
    () => showToast(`${session.id} ${verbs[verb].done}.`),
    (error: unknown) => showToast(sentenceOf(error), "fault"),
  );
  return true;
}

function Notes({ answer }: { answer: VerbResponse }): ReactNode {
  return (
    <div role="status" className="flex flex-col gap-2 break-words">
      {answer.remaining.length > 0 && (
        <p className="text-alert">
          Still running: {answer.remaining.map(({ pid, what }) => `${what} (pid ${pid})`).join(", ")}.
        </p>
      )}
      {answer.notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
    </div>
  );
}
