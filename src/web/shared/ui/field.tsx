/** Labeled inputs. 16 px text on phones: browsers zoom into smaller inputs. */
import { useId, type ComponentProps, type ReactNode } from "react";
import { clsx } from "clsx";

export const inputStyles =
  "w-full rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-base sm:text-sm placeholder:text-dim disabled:opacity-60 pointer-coarse:min-h-10";

export interface FieldProps {
  label: string;
  /** The error, also for screen readers. */
  fault?: string | null;
  note?: ReactNode;
  children: (ids: { id: string; "aria-describedby": string; "aria-invalid": boolean }) => ReactNode;
}

export function Field({ label, fault = null, note, children }: FieldProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-xs font-medium text-dim">
        {label}
      </label>
      {children({ id, "aria-describedby": `${id}-note`, "aria-invalid": fault !== null })}
      <div id={`${id}-note`} className="text-xs text-dim empty:hidden">
        {fault === null ? note : <span className="text-danger">{fault}</span>}
      </div>
    </div>
  );
}

export function TextInput({ className, ...rest }: ComponentProps<"input">) {
  return <input className={clsx(inputStyles, className)} {...rest} />;
}

/** The native select: phones and screen readers support it best. */
export function Select({ className, ...rest }: ComponentProps<"select">) {
  return <select className={clsx(inputStyles, "pr-7", className)} {...rest} />;
}
