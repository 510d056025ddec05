/** A part of the settings, and how it looks while its answer is awaited or did not come. */
import type { ReactNode } from "react";
import { Button } from "../shared/ui/button.tsx";
import { Spinner } from "../shared/ui/loading.tsx";
import type { Loadable } from "../shared/data/use-query.ts";

export interface SectionProps {
  id: string;
  title: string;
  note?: ReactNode;
  action?: ReactNode;
  children: ReactNode;
}

export function Section({ id, title, note, action, children }: SectionProps) {
  return (
    <section aria-labelledby={id} className="rounded-lg border border-line bg-panel">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <h2 id={id} className="flex-1 font-semibold">
          {title}
        </h2>
        {action}
      </div>
      {note !== undefined && <p className="px-4 pt-3 text-xs text-dim">{note}</p>}
      <div className="flex flex-col gap-3 p-4">{children}</div>
    </section>
  );
}

export function WhenLoaded<T>({
  asked,
  onAgain,
  children,
}: {
  asked: Loadable<T>;
  onAgain: () => void;
  children: (value: T) => ReactNode;
}) {
  if (asked.is === "loading") return <Spinner />;
  if (asked.is === "known") return children(asked.value);
  return (
    <div role="alert" className="flex flex-col items-start gap-2">
      <p className="text-danger">{asked.why}</p>
      <Button size="small" onClick={onAgain}>
        Try again
      </Button>
    </div>
  );
}

/** A row of a list: what it is, what is said of it, what can be done. */
export function Row({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line pb-2 last:border-0 last:pb-0">
      {/* So wide that the words keep a line of their own on a phone, where two buttons would squeeze them. */}
      <div className="min-w-0 flex-1 basis-52">{children}</div>
      {action}
    </li>
  );
}
