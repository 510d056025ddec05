/** The agent's oldest open permission request, answered from the board. */
import { useState } from "react";
import { Link } from "wouter";
import type { SessionJson } from "../../contract/session.ts";
import { call } from "../shared/data/api.ts";
import { useMay } from "../shared/data/live.ts";
import { OptionButtons, PermissionFacts } from "../shared/ui/permission-request.tsx";
import { countOf, requestText } from "../shared/ui/safe-text.ts";
import { showToast, useAction } from "../shared/ui/toast.tsx";

/** Characters that fit without scrolling. */
const fitting = 240;

export function Permission({ session }: { session: SessionJson }) {
  const [first, ...others] = session.permissions;
  const [answered, setAnswered] = useState<string | null>(null);
  const may = useMay("answer");
  const { run } = useAction(session.id);
  if (first === undefined) return null;
  const busy = answered === first.requestId || !may;
  const answer = async (optionId: string): Promise<void> => {
    setAnswered(first.requestId);
    const isSent = await run(async () => {
      const body = { requestId: first.requestId, optionId };
      const { answered: counted, reason } = await call("answer", { params: { id: session.id }, body });
      if (!counted) showToast(`${session.id}: ${reason ?? "already answered."}`);
    });
    if (!isSent) setAnswered(null);
  };
  return (
    <div
      role="group"
      aria-label={`Permission request from ${session.id}`}
      className="flex flex-col gap-2 rounded-md bg-alert-soft p-2"
    >
      <RequestTitle text={requestText(first.title)} />
      <PermissionFacts
        request={first}
        more={
          <Link href={`/s/${session.id}`} className="text-accent underline">
            Show all in the session
          </Link>
        }
      />
      <div className="flex flex-wrap gap-1.5">
        <OptionButtons options={first.options} size="small" disabled={busy} onChoose={answer} />
      </div>
      {!may && <p className="text-xs text-alert">This device may only watch.</p>}
      {others.length > 0 && <p className="text-xs text-alert">{countOf(others.length, "more request")}</p>}
    </div>
  );
}

/** Shown in full, in a box that scrolls: the user must be able to see everything they allow. */
function RequestTitle({ text }: { text: string }) {
  const styles = "max-h-40 overflow-y-auto font-mono text-xs break-words";
  if (text.length <= fitting) return <p className={styles}>{text}</p>;
  return (
    <>
      <p className={styles} tabIndex={0}>
        {text}
      </p>
      <p className="text-xs text-alert">This request is long. Read all of it before you answer.</p>
    </>
  );
}
