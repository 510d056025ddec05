/** A section of the settings page, its rows, and its loading and error states. */
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
  query,
  onRetry,
  children,
}: {
  query: Loadable<T>;
  onRetry: () => void;
  children: (value: T) => ReactNode;
}) {
  if (query.is === "loading") return <Spinner />;
  if (query.is === "known") return children(query.value);
  return (
    <div role="alert" className="flex flex-col items-start gap-2">
      <p className="text-danger">{query.why}</p>
      <Button size="small" onClick={onRetry}>
        Try again
      </Button>
    </div>
  );
}

/** A list row with an action at its end. */
export function Row({ children, action }: { children: ReactNode; action?: ReactNode }) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line pb-2 last:border-0 last:pb-0">
      {/* Wide enough that on a phone the text keeps its own line, above the buttons. */}
      <div className="min-w-0 flex-1 basis-52">{children}</div>
      {action}
    </li>
  );
}
