/** Says what a verb does to processes and to work, asks what it must ask, does it, and says what came of it. */
import { useState, type ReactNode } from "react";
import type { CallOptions } from "../../client/client.ts";
import type { VerbAnswer } from "../../contract/wire.ts";
import { call, sentenceOf } from "../state/api.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field, Select, TextInput } from "../ui/field.tsx";
import { plainText } from "../ui/plain-text.ts";
import { say } from "../ui/toast.tsx";
import { hasWork, KeptWork, useWork } from "./kept-work.tsx";
import { snoozeTimes } from "./snooze-times.ts";
import { otherKind, verbs } from "../../model/verbs.ts";
import type { AskedVerb } from "./verbs.tsx";

type Step = { at: "asking"; fault: string | null } | { at: "doing" } | { at: "done"; answer: VerbAnswer };

export default function VerbDialog({ asked, onClose }: { asked: AskedVerb; onClose: () => void }) {
  const { verb, session } = asked;
  const info = verbs[verb];
  const [step, setStep] = useState<Step>({ at: "asking", fault: null });
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
      say(`${session.id} ${info.done}.`);
      onClose();
    } catch (error) {
      setStep({ at: "asking", fault: sentenceOf(error) });
    }
  };

  if (step.at === "done") {
    return (
      <Dialog
        open
        onClose={onClose}
        title={step.answer.done ? `${session.id} ${info.done}` : `${info.label} is still in progress`}
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
  const ready = step.at === "asking" && work.is !== "asking" && (verb !== "rename" || title.trim() !== "");
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
        {info.movesWork && <KeptWork work={work} />}
        {step.at === "asking" && step.fault !== null && (
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
          <Button type="submit" variant={info.movesWork ? "danger" : "primary"} disabled={!ready}>
            {info.movesWork && hasWork(work) ? `${label} and keep the work in the trash` : label}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function doing({ verb }: AskedVerb): string {
  if (verb === "rename") return "Renaming …";
  return verbs[verb].endsWith === "up" ? "Starting the agent …" : "Stopping the processes …";
}

/** Null where the answer has no notes. */
async function perform(
  { verb, session }: AskedVerb,
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
