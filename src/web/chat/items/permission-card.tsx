/** A question of the agent, with its own answers. It can be answered once, from anywhere. */
import { useState } from "react";
import { CircleHelp } from "lucide-react";
import type { PermissionItem } from "../../../protocol/transcript-items.ts";
import { call, sentenceOf } from "../../state/api.ts";
import { Button } from "../../ui/button.tsx";
import { classes } from "../../ui/classes.ts";
import { say } from "../../ui/toast.tsx";
import { useChat } from "../chat-context.ts";
import { safeText } from "../inert.ts";
import { byWords } from "../words.ts";
import { Clock } from "./prompt-row.tsx";

export function PermissionCard({ item }: { item: PermissionItem }) {
  const { session, closed } = useChat();
  const [answering, setAnswering] = useState(false);
  const answer = async (optionId: string): Promise<void> => {
    setAnswering(true);
    try {
      const body = { requestId: item.requestId, optionId };
      const { answered, reason } = await call("answer", { params: { id: session }, body });
      if (!answered) say(reason ?? "This answer came too late: another one counted.");
    } catch (error) {
      say(sentenceOf(error), "fault");
    } finally {
      setAnswering(false);
    }
  };
  return (
    <article
      aria-label={`Question: ${safeText(item.title)}`}
      data-permission={item.requestId}
      className={classes(
        "mt-2 rounded-lg border p-3",
        item.open ? "border-alert/50 bg-alert-soft" : "border-line bg-panel",
      )}
    >
      <p className="flex items-start gap-2">
        <CircleHelp
          size={16}
          aria-hidden
          className={classes("mt-0.5 shrink-0", item.open ? "text-alert" : "text-dim")}
        />
        <span className="min-w-0 flex-1">
          <span className="block text-xs text-dim">
            {item.open ? "The agent asks for permission" : "The agent asked"}
          </span>
          <span className="font-mono text-[13px] break-words whitespace-pre-wrap">
            {safeText(item.title).slice(0, 4_000)}
          </span>
        </span>
      </p>
      {item.open ? (
        <div className="mt-2 flex flex-wrap gap-2 pl-6">
          {item.options.map((option) => (
            <Button
              key={option.optionId}
              variant={option.kind === "allow_once" ? "primary" : option.kind.startsWith("reject") ? "danger" : "plain"}
              disabled={answering || closed !== null}
              title={closed ?? undefined}
              onClick={() => void answer(option.optionId)}
            >
              {safeText(option.name)}
            </Button>
          ))}
        </div>
      ) : (
        <p className="mt-1 pl-6 text-xs text-dim">{answerWords(item)}</p>
      )}
    </article>
  );
}

function answerWords({ answer, options }: PermissionItem): React.ReactNode {
  if (answer === null) return "Not answered: its turn ended first.";
  if (answer.outcome === "cancelled")
    return (
      <>
        Withdrawn {byWords(answer.by)} · <Clock at={answer.at} />
      </>
    );
  const name = options.find(({ optionId }) => optionId === answer.optionId)?.name ?? answer.optionId ?? "answered";
  return (
    <>
      Answered “{safeText(name)}” {byWords(answer.by)} · <Clock at={answer.at} />
    </>
  );
}
