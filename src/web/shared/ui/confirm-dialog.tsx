/** Asks before something that cannot be undone, and stays open with the reason when it fails. */
import { useState, type ReactNode } from "react";
import { sentenceOf } from "../data/api.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface ConfirmDialogProps {
  title: string;
  description: ReactNode;
  /** The button that changes nothing. */
  keep: string;
  /** The button that does it. */
  confirm: string;
  act: () => Promise<void>;
  onClose: () => void;
}

export function ConfirmDialog({ title, description, keep, confirm, act, onClose }: ConfirmDialogProps) {
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<string | null>(null);
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await act();
    } catch (error) {
      setFault(sentenceOf(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      description={description}
      actions={
        <>
          <Button onClick={onClose}>{keep}</Button>
          <Button variant="danger" disabled={busy} onClick={() => void run()}>
            {confirm}
          </Button>
        </>
      }
    >
      {fault !== null && (
        <p role="alert" className="text-danger">
          {fault}
        </p>
      )}
    </Dialog>
  );
}
