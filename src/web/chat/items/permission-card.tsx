/** A permission request with its options. It can be answered once, from any client. */
import { CircleHelp } from "lucide-react";
import type { PermissionItem } from "../../../contract/transcript.ts";
import { optionKindLabel } from "../../../model/tool-call.ts";
import { requestName } from "../../../contract/permission-request.ts";
import { call } from "../../shared/data/api.ts";
import { useSession } from "../../shared/data/live.ts";
import { OptionButtons, PermissionFacts, PermissionText } from "../../shared/ui/permission-request.tsx";
import { clsx } from "clsx";
import { showToast, useAction } from "../../shared/ui/toast.tsx";
import { useChat } from "../chat-context.ts";
import { safeText } from "../inert.ts";
import { actorLabel } from "../../../model/event-text.ts";
import { Clock } from "./prompt-row.tsx";

export function PermissionCard({ item }: { item: PermissionItem }) {
  const { session, closed } = useChat();
  const { busy, run } = useAction();
  const request = useSession(session)?.permissions.find(({ requestId }) => requestId === requestName(item.requestId));
  const answer = (optionId: string) =>
    run(async () => {
      const body = { requestId: item.requestId, optionId };
      const { answered, reason } = await call("answer", { params: { id: session }, body });
      if (!answered) showToast(reason ?? "Already answered.");
    });
  return (
    <article
      aria-label={`Permission request: ${safeText(item.title)}`}
      data-permission={item.requestId}
      className={clsx(
        "mt-2 rounded-lg border p-3",
        item.open ? "border-alert/50 bg-alert-soft" : "border-line bg-panel",
      )}
    >
      <p className="flex items-start gap-2">
        <CircleHelp size={16} aria-hidden className={clsx("mt-0.5 shrink-0", item.open ? "text-alert" : "text-dim")} />
        <span className="min-w-0 flex-1">
          <span className="block text-xs text-dim">
            {item.open ? "The agent asks for permission" : "The agent asked for permission"}
          </span>
          <PermissionText text={item.title} className="text-[13px]" />
        </span>
      </p>
      {item.open && request !== undefined && (
        <div className="pl-6">
          <PermissionFacts request={request} more="The tool call above shows the rest." />
        </div>
      )}
      {item.open ? (
        <div className="mt-2 flex flex-wrap gap-2 pl-6">
          <OptionButtons
            options={item.options}
            disabled={busy || closed !== null}
            title={closed ?? undefined}
            onChoose={answer}
          />
        </div>
      ) : (
        <p className="mt-1 pl-6 text-xs text-dim">{answerText(item)}</p>
      )}
    </article>
  );
}

function answerText({ answer, options }: PermissionItem): React.ReactNode {
  if (answer === null) return "Not answered: the turn ended first.";
  return (
    <>
      {answeredText(answer, options)} · <Clock at={answer.at} />
    </>
  );
}

function answeredText(answer: NonNullable<PermissionItem["answer"]>, options: PermissionItem["options"]): string {
  const by = actorLabel(answer.by);
  if (answer.outcome === "cancelled") return `Withdrawn by ${by}`;
  const option = options.find(({ optionId }) => optionId === answer.optionId);
  if (answer.rule !== undefined) {
    const done = option?.kind.startsWith("allow") === true ? "Allowed" : "Rejected";
    return `${done} by rule ${answer.rule.number}: ${safeText(answer.rule.text)}`;
  }
  const effect = option === undefined ? "" : ` (${optionKindLabel(option.kind)})`;
  return `Answered “${safeText(option?.name ?? answer.optionId ?? "answered")}” by ${by}${effect}`;
}
