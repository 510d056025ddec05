/** Forms and labeled inputs. 16 px text on phones: browsers zoom into smaller inputs. */
import { createContext, use, useId, useState, type ComponentProps, type ReactNode } from "react";
import { clsx } from "clsx";

export const inputStyles =
  "w-full rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-base sm:text-sm placeholder:text-dim disabled:opacity-60 pointer-coarse:min-h-10";

/** Connects an input to the label and the note of its field. */
const FieldContext = createContext<{ id?: string; "aria-describedby"?: string; "aria-invalid"?: boolean }>({});

interface FieldProps {
  label: string;
  /** The error, also for screen readers. */
  fault?: string | null;
  note?: ReactNode;
  /** One input. */
  children: ReactNode;
}

export function Field({ label, fault = null, note, children }: FieldProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-xs font-medium text-dim">
        {label}
      </label>
      <FieldContext value={{ id, "aria-describedby": `${id}-note`, "aria-invalid": fault !== null }}>
        {children}
      </FieldContext>
      <div id={`${id}-note`} className="text-xs text-dim empty:hidden">
        {fault === null ? note : <span className="text-danger">{fault}</span>}
      </div>
    </div>
  );
}

export function TextInput({ className, ...rest }: ComponentProps<"input">) {
  return <input {...use(FieldContext)} className={clsx(inputStyles, className)} {...rest} />;
}

/** The native select: phones and screen readers support it best. */
export function Select({ className, ...rest }: ComponentProps<"select">) {
  return <select {...use(FieldContext)} className={clsx(inputStyles, "pr-7", className)} {...rest} />;
}

/** A text of several lines: Ctrl+Enter submits its form. */
export function TextArea({ className, onCancel, ...rest }: ComponentProps<"textarea"> & { onCancel?: () => void }) {
  return (
    <textarea
      {...use(FieldContext)}
      className={clsx(inputStyles, className)}
      onKeyDown={(event) => {
        if (event.key === "Escape") onCancel?.();
        else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
      }}
      {...rest}
    />
  );
}

export function Checkbox({
  className = "items-center gap-2 pointer-coarse:min-h-10",
  children,
  onChange,
  ...rest
}: Omit<ComponentProps<"input">, "onChange"> & { onChange: (on: boolean) => void }) {
  return (
    <label className={clsx("flex", className)}>
      <input
        type="checkbox"
        className="size-4 shrink-0 accent-accent"
        onChange={({ target }) => onChange(target.checked)}
        {...rest}
      />
      {children}
    </label>
  );
}

export function Form({ onSubmit, ...rest }: Omit<ComponentProps<"form">, "onSubmit"> & { onSubmit: () => unknown }) {
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      {...rest}
    />
  );
}

interface InlineEditProps extends ComponentProps<"input"> {
  value: string;
  onSave: (text: string) => void;
  onClose: () => void;
}

/** Edits a text in its place: Enter or leaving the field saves it, Escape does not. */
export function InlineEdit({ value, onSave, onClose, ...rest }: InlineEditProps) {
  const [draft, setDraft] = useState(value);
  const text = draft.trim();
  const save = (): void => (text === "" || text === value ? onClose() : onSave(text));
  return (
    <Form className="min-w-0 flex-1" onSubmit={save}>
      <TextInput
        value={draft}
        onChange={({ target }) => setDraft(target.value)}
        onBlur={save}
        onKeyDown={({ key }) => key === "Escape" && onClose()}
        {...rest}
      />
    </Form>
  );
}

/** An error; nothing if it is null. */
export function Fault({ text }: { text: string | null }) {
  if (text === null) return null;
  return (
    <p role="alert" className="text-danger">
      {text}
    </p>
  );
}
