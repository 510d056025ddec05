/**
 * A permission request, complete: everything can be expanded, cuts are counted, and each option shows what it does,
 * because its name comes from the agent.
 */
import { useId, useState, type ReactNode } from "react";
import { optionKindLabel } from "../../../model/tool-call.ts";
import type { SessionJson } from "../../../contract/session.ts";
import { Button, type ButtonProps } from "./button.tsx";
import { clsx } from "clsx";
import { formatCount, requestText } from "./safe-text.ts";

type PermissionRequest = SessionJson["permissions"][number];

/** Characters shown at first; rendering megabytes at once freezes the page. */
const step = 4_000;

export function PermissionText({ text, className }: { text: string; className?: string }) {
  const [shownLength, setShownLength] = useState(step);
  const shown = requestText(text);
  const hidden = shown.length - shownLength;
  return (
    <>
      <span className={clsx("font-mono break-words whitespace-pre-wrap", className)}>
        {shown.slice(0, shownLength)}
      </span>
      {hidden > 0 && (
        <span className="block">
          <Button size="small" variant="quiet" onClick={() => setShownLength(shownLength * 4)}>
            Show {formatCount(hidden)} more characters
          </Button>
        </span>
      )}
    </>
  );
}

/** The tool call beyond its title: what it runs, and where. */
export function PermissionFacts({ request, more }: { request: PermissionRequest; more?: ReactNode }) {
  const { title, kind = null, command = null, cwd = null, paths = [] } = request;
  const facts = { Kind: kind, Runs: command === title ? null : command, In: cwd, Paths: paths.join("\n") || null };
  const rows = Object.entries(facts).flatMap(([name, value]) => (value === null ? [] : [{ name, value }]));
  if (rows.length === 0 && request.more !== true) return null;
  return (
    <dl className="mt-1 grid max-h-60 grid-cols-[auto_1fr] gap-x-2 overflow-y-auto text-xs" tabIndex={0}>
      {rows.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-dim">{name}</dt>
          <dd className="min-w-0">
            <PermissionText text={value} />
          </dd>
        </div>
      ))}
      {request.more === true && more !== undefined && <div className="col-span-2">{more}</div>}
    </dl>
  );
}

interface OptionButtonsProps extends ButtonProps {
  options: PermissionRequest["options"];
  onChoose: (optionId: string) => unknown;
}

/** The agent's name for each option, and below it what choosing it does. */
export function OptionButtons({ options, onChoose, ...rest }: OptionButtonsProps) {
  const id = useId();
  return options.map(({ optionId, name, kind }) => {
    const variant = kind === "allow_once" ? "primary" : kind.startsWith("reject") ? "danger" : "plain";
    const note = `${id}-${optionId}`;
    return (
      <span key={optionId} className="inline-flex max-w-full flex-col items-stretch gap-0.5">
        <Button variant={variant} aria-describedby={note} onClick={() => onChoose(optionId)} {...rest}>
          {requestText(name)}
        </Button>
        <span
          id={note}
          className={clsx("text-center text-[11px]", kind === "allow_always" ? "text-alert" : "text-dim")}
        >
          {optionKindLabel(kind)}
        </span>
      </span>
    );
  });
}
