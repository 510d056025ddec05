/** Modal dialogs. On a phone they slide up from the bottom. */
import { Dialog as Radix } from "radix-ui";
import { X } from "lucide-react";
import type { ReactNode } from "react";
import { IconButton, Button } from "./button.tsx";
import { clsx } from "clsx";
import { Fault } from "./field.tsx";
import { useSubmit } from "./toast.tsx";

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  /** Read by screen readers with the title. */
  description?: ReactNode;
  children?: ReactNode;
  /** Buttons, the confirming one last. */
  actions?: ReactNode;
}

export function Dialog({ open, onClose, title, description, children, actions }: DialogProps) {
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content
          {...(description === undefined ? { "aria-describedby": undefined } : {})}
          className={clsx(
            "fixed z-50 flex max-h-[85dvh] w-full flex-col gap-3 overflow-y-auto border border-line bg-raised p-4 shadow-xl",
            "bottom-0 left-0 rounded-t-xl pb-[max(1rem,env(safe-area-inset-bottom))]",
            "sm:bottom-auto sm:left-1/2 sm:top-[12vh] sm:max-w-lg sm:-translate-x-1/2 sm:rounded-xl",
          )}
        >
          <div className="flex items-start justify-between gap-2">
            <Radix.Title className="pt-1 text-base font-semibold">{title}</Radix.Title>
            <Radix.Close asChild>
              <IconButton label="Close" Sign={X} />
            </Radix.Close>
          </div>
          {description !== undefined && (
            <Radix.Description asChild>
              <div className="text-dim">{description}</div>
            </Radix.Description>
          )}
          {children}
          {actions !== undefined && <div className="mt-1 flex flex-wrap justify-end gap-2">{actions}</div>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

interface ConfirmDialogProps {
  title: string;
  description: ReactNode;
  /** Label of the button that changes nothing. */
  keep: string;
  /** Label of the button that confirms. */
  confirm: string;
  act: () => Promise<void>;
  onClose: () => void;
}

/** Asks before something irreversible, and stays open with the error if it fails. */
export function ConfirmDialog({ title, description, keep, confirm, act, onClose }: ConfirmDialogProps) {
  const { busy, fault, submit } = useSubmit();
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          <Button onClick={onClose}>{keep}</Button>
          <Button variant="danger" disabled={busy} onClick={() => void submit(act)}>
            {confirm}
          </Button>
        </>
      }
    >
      <Fault text={fault} />
    </Dialog>
  );
}
