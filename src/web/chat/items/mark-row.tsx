/** Rows between the messages: ends of turns, launches, resets, notices. */
import { KeyRound, RotateCcw, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import type { TranscriptItem } from "../../../contract/transcript.ts";
import { clsx } from "clsx";
import { plainOutput, safeText } from "../inert.ts";
import { shape, textIn } from "../tool-parts.ts";
import { asSentence } from "../../../model/text.ts";
import { formatDuration } from "../../../model/duration.ts";
import { actorLabel, endText } from "../../../model/event-text.ts";
import { damageText, launchText, turnEndText } from "../../../model/transcript/item-text.ts";
import { Clock } from "./prompt-row.tsx";
import { Disclosure, Output } from "./text-row.tsx";

export type MarkItem = Exclude<
  TranscriptItem,
  { item: "prompt" | "text" | "thought" | "tool" | "permission" | "workspace-output" }
>;

export function MarkRow({ item, open }: { item: MarkItem; open: boolean }) {
  switch (item.item) {
    case "turn-end":
      return <TurnEnd item={item} />;
    case "reset":
      return (
        <Callout title="Conversation context reset" sign={<RotateCcw size={16} aria-hidden />}>
          The agent no longer remembers the conversation above. {safeText(asSentence(item.reason))}
        </Callout>
      );
    case "launch":
      // The context reset that follows shows the reason and what to do: not shown twice.
      return item.state === "failed" && item.conversationGone !== true ? (
        <Callout title="The agent did not start" tone="danger">
          {safeText(launchText(item))}
          <LastLines name={item.key} lines={item.lastLines} open={open} />
        </Callout>
      ) : (
        <Line at={item.at}>{launchText(item)}</Line>
      );
    case "ended":
      return item.how === "crash" ? (
        <Callout title="The agent crashed" tone="danger">
          {endText(item.how, item.exit)}
          <LastLines name={item.key} lines={item.lastLines} open={open} />
        </Callout>
      ) : (
        <Line at={item.at}>{endText(item.how, item.exit)}</Line>
      );
    case "damaged":
      return <Callout title="Output damaged">{damageText(item)}</Callout>;
    case "auth":
      return (
        <Callout title="The agent requires sign-in" sign={<KeyRound size={16} aria-hidden />}>
          {safeText(item.message)}
          <ul className="mt-1 list-disc pl-5">
            {item.methods.map(shape).map((method, index) => {
              const texts = [textIn(method, "name"), textIn(method, "description")].filter(Boolean);
              return <li key={index}>{safeText(texts.join(": "))}</li>;
            })}
          </ul>
        </Callout>
      );
    case "notice":
      return item.level === "warn" ? (
        <Callout title="Notice">{safeText(item.text)}</Callout>
      ) : (
        <Line at={item.at}>{safeText(item.text)}</Line>
      );
    case "mode":
      return <Line at={item.at}>{`Mode set to ${safeText(item.mode)} by ${actorLabel(item.by)}`}</Line>;
    case "model":
      return <Line at={item.at}>{`Model set to ${safeText(item.model)} by ${actorLabel(item.by)}`}</Line>;
    case "config":
      return (
        <Line at={item.at}>{`${safeText(item.id)} set to ${safeText(item.value)} by ${actorLabel(item.by)}`}</Line>
      );
    case "converted":
      return <Line at={item.at}>{`Converted to ${item.kind} by ${actorLabel(item.by)}`}</Line>;
    default:
      return null;
  }
}

function TurnEnd({ item }: { item: Extract<MarkItem, { item: "turn-end" }> }) {
  const text = turnEndText(item);
  const ms = item.startedAt === null ? 0 : item.at - item.startedAt;
  if (text === null) return <Line at={item.at}>{ms < 1_000 ? "Done" : `Done in ${formatDuration(ms)}`}</Line>;
  if (item.stopReason === "cancelled") return <Line at={item.at}>{text}</Line>;
  return (
    <Callout
      title={item.stopReason === "error" ? "The turn failed" : "The turn ended early"}
      tone={item.stopReason === "error" ? "danger" : "alert"}
    >
      {safeText(item.stopReason === "error" ? item.message || "The agent gave no reason." : text)}
    </Callout>
  );
}

function Line({ children, at }: { children: ReactNode; at: number }) {
  return (
    <p className="mt-2 flex items-center gap-2 text-xs text-dim">
      <span className="min-w-0 break-words">{children}</span>
      <Clock at={at} />
      <span aria-hidden className="h-px min-w-4 flex-1 bg-line" />
    </p>
  );
}

interface CalloutProps {
  title: string;
  tone?: "alert" | "danger";
  sign?: ReactNode;
  children: ReactNode;
}

export function Callout({ title, tone = "alert", sign, children }: CalloutProps) {
  return (
    <div
      role="note"
      aria-label={title}
      className={clsx(
        "mt-3 flex gap-2 rounded-lg border p-3",
        tone === "alert" ? "border-alert/40 bg-alert-soft" : "border-danger/40 bg-danger-soft",
      )}
    >
      <span className={clsx("mt-0.5 shrink-0", tone === "alert" ? "text-alert" : "text-danger")}>
        {sign ?? <TriangleAlert size={16} aria-hidden />}
      </span>
      <div className="min-w-0 flex-1">
        <p className={clsx("font-medium", tone === "alert" ? "text-alert" : "text-danger")}>{title}</p>
        <div className="break-words">{children}</div>
      </div>
    </div>
  );
}

function LastLines({ name, lines, open }: { name: string; lines: string[]; open: boolean }) {
  if (lines.length === 0) return null;
  return (
    <Disclosure name={name} open={open} summary="Last lines">
      <Output text={plainOutput(lines.join("\n"))} />
    </Disclosure>
  );
}
