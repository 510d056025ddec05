/** Says what a verb does to processes and to work, asks what it must ask, does it, and says what came of it. */
import { useState, type ReactNode, useEffect } from "react";
import type { CallOptions } from "../../../client/client.ts";
import type { VerbAnswer, SessionJson, WorkJson } from "../../../contract/wire.ts";
import { call, sentenceOf } from "../data/api.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, Select, TextInput } from "../ui/field.tsx";
import { plainText } from "../ui/safe-text.ts";
import { showToast } from "../ui/toast.tsx";
import { otherKind, verbs } from "../../session/verb-list.ts";
import type { PendingVerb } from "./verbs.tsx";

type Work = { is: "none" } | { is: "loading" } | { is: "unknown"; why: string } | { is: "known"; value: WorkJson };

function useWork(session: SessionJson, wanted: boolean): Work {
  const [work, setWork] = useState<Work>(wanted ? { is: "loading" } : { is: "none" });
  useEffect(() => {
    if (!wanted) return undefined;
    const abort = new AbortController();
    call("work", { params: { id: session.id }, signal: abort.signal }).then(
      (value) => setWork({ is: "known", value }),
      (error: unknown) => {
        if (!abort.signal.aborted) setWork({ is: "unknown", why: sentenceOf(error) });
      },
    );
    return () => abort.abort();
  }, [session.id, wanted]);
  return work;
}

function hasWork(work: Work): boolean {
  return work.is === "known" && (work.value.uncommitted > 0 || work.value.unpushed.length > 0);
}

/** Enough to recognise them; the rest is counted. */
const shownCommits = 5;

function LocalWork({ work }: { work: Work }): ReactNode {
  if (work.is === "none") return null;
  if (work.is === "loading") {
    return (
      <p role="status" className="text-dim">
        Looking for uncommitted and unpushed work …
      </p>
    );
  }
  if (work.is === "unknown") {
    return (
      <p role="alert" className="rounded-md bg-alert-soft p-3 text-alert">
        Whether there is uncommitted or unpushed work could not be found out: {work.why} Nothing is deleted in any case:
        the worktree goes to the trash as it is.
      </p>
    );
  }
  const { uncommitted, unpushed, where } = work.value;
  if (!hasWork(work)) return <p className="text-dim">No uncommitted or unpushed work was found. {where}</p>;
  return (
    <div role="alert" className="flex flex-col gap-1.5 rounded-md bg-alert-soft p-3">
      <p className="font-medium text-alert">
        There is work that exists only here:{" "}
        {[count(uncommitted, "uncommitted file"), count(unpushed.length, "unpushed commit")]
          .filter(Boolean)
          .join(" and ")}
        .
      </p>
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

function count(number: number, what: string): string {
  return number === 0 ? "" : `${number} ${what}${number === 1 ? "" : "s"}`;
}

/** How long a session may be snoozed from the page; the command line takes any time. */
const hourMs = 3_600_000;

const snoozeTimes: { label: string; ms: number }[] = [
  { label: "in one hour", ms: hourMs },
  { label: "in three hours", ms: 3 * hourMs },
  { label: "in eight hours", ms: 8 * hourMs },
  { label: "in one day", ms: 24 * hourMs },
  { label: "in three days", ms: 72 * hourMs },
  { label: "in one week", ms: 168 * hourMs },
];

type Step = { at: "confirming"; fault: string | null } | { at: "doing" } | { at: "done"; answer: VerbAnswer };

export default function VerbDialog({ asked, onClose }: { asked: PendingVerb; onClose: () => void }) {
  const { verb, session } = asked;
  const info = verbs[verb];
  const [step, setStep] = useState<Step>({ at: "confirming", fault: null });
  const [title, setTitle] = useState(session.title);
  const [forMs, setForMs] = useState(snoozeTimes[0]!.ms);
  const [fresh, setFresh] = useState(false);
  const work = useWork(session, info.movesWork);

  const act = async (): Promise<void> => {
    setStep({ at: "doing" });
    try {
      const answer = await perform(asked, { title: title.trim(), forMs, fresh });
      if (answer !== null && (answer.notes.length > 0 || answer.remaining.length > 0 || !answer.done)) {
        setStep({ at: "done", answer });
        return;
      }
      showToast(`${session.id} ${info.done}.`);
      onClose();
    } catch (error) {
      setStep({ at: "confirming", fault: sentenceOf(error) });
    }
  };

  if (step.at === "done") {
    return (
      <Dialog
        open
        onClose={onClose}
        title={step.answer.done ? `${session.id} ${info.done}` : `${info.label} goes on`}
        actions={
          <Button variant="primary" onClick={onClose}>
            Close
          </Button>
        }
      >
        <Notes answer={step.answer} />
      </Dialog>
    );
  }
  const label = verb === "convert" ? `Convert to ${otherKind(session.kind)}` : info.label;
  const ready = step.at === "confirming" && work.is !== "loading" && (verb !== "rename" || title.trim() !== "");
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
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) void act();
        }}
      >
        {verb === "rename" && (
          <Field label="Title">
            {(ids) => (
              <TextInput {...ids} value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
            )}
          </Field>
        )}
        {verb === "snooze" && (
          <Field label="Until">
            {(ids) => (
              <Select {...ids} value={forMs} onChange={(event) => setForMs(Number(event.target.value))}>
                {snoozeTimes.map(({ label: words, ms }) => (
                  <option key={ms} value={ms}>
                    {words}
                  </option>
                ))}
              </Select>
            )}
          </Field>
        )}
        {verb === "convert" && (
          <label className="flex items-start gap-2 py-1">
            <input
              type="checkbox"
              className="mt-0.5 size-4 accent-accent"
              checked={fresh}
              onChange={(event) => setFresh(event.target.checked)}
            />
            <span>
              Begin a new conversation
              <span className="block text-xs text-dim">
                Discards the present one, for agents that cannot hand it over. The files stay.
              </span>
            </span>
          </label>
        )}
        {info.movesWork && <LocalWork work={work} />}
        {step.at === "confirming" && step.fault !== null && (
          <p role="alert" className="text-danger">
            {step.fault}
          </p>
        )}
        <div className="flex flex-wrap items-center justify-end gap-2">
          {step.at === "doing" && (
            <span role="status" className="mr-auto text-dim">
              {doing(asked)}
            </span>
          )}
          <Button onClick={onClose}>{step.at === "doing" ? "Hide" : "Cancel"}</Button>
          <Button type="submit" variant={info.danger ? "danger" : "primary"} disabled={!ready}>
            {info.danger && hasWork(work) ? `${label} and keep the work in the trash` : label}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function doing({ verb }: PendingVerb): string {
  if (verb === "rename") return "Renaming …";
  if (verb === "restore" || verb === "wake" || verb === "unarchive") return "Starting the agent …";
  return "Ending the processes …";
}

/** Null where the answer has no notes. */
async function perform(
  { verb, session }: PendingVerb,
  given: { title: string; forMs: number; fresh: boolean },
): Promise<VerbAnswer | null> {
  const params = { id: session.id };
  const plain = { params, body: {} } satisfies CallOptions<"stop">;
  switch (verb) {
    case "rename":
      await call("rename", { params, body: { title: given.title } });
      return null;
    case "snooze":
      return call("snooze", { params, body: { forMs: given.forMs } });
    case "convert":
      return call("convert", { params, body: { kind: otherKind(session.kind), fresh: given.fresh } });
    case "restart":
      return call("acpRestart", plain);
    case "stop":
    case "archive":
    case "unarchive":
    case "wake":
    case "restore":
    case "kill":
    case "delete":
      return call(verb, plain);
    default:
      verb satisfies never;
      return null;
  }
}

function Notes({ answer }: { answer: VerbAnswer }): ReactNode {
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
