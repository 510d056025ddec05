/** Short messages at the edge of the page, and actions whose errors become one. */
import { useState } from "react";
import { X } from "lucide-react";
import { createStore, useStore } from "zustand";
import { sentenceOf } from "../data/api.ts";
import { IconButton } from "./button.tsx";
import { clsx } from "clsx";

interface Toast {
  id: number;
  tone: "plain" | "fault";
  text: string;
}

/** Long enough to read two lines; a fault stays until dismissed. */
const shownMs = 6_000;
const toasts = createStore<readonly Toast[]>(() => []);
let next = 1;

export function showToast(text: string, tone: Toast["tone"] = "plain"): void {
  const toast = { id: next++, tone, text };
  toasts.setState((shown) => [...shown.filter((old) => old.text !== text), toast].slice(-4), true);
  if (tone === "plain") setTimeout(() => close(toast.id), shownMs);
}

function close(id: number): void {
  toasts.setState((shown) => shown.filter((toast) => toast.id !== id), true);
}

/** Runs the action of a button and shows its error as a toast. `about` starts the message, such as a session's id. */
export function useAction(about?: string) {
  return useRun((why) => showToast(about === undefined ? why : `${about}: ${why}`, "fault"));
}

/** For a form, which shows the error itself. */
export function useSubmit() {
  const [fault, setFault] = useState<string | null>(null);
  const { busy, run } = useRun(setFault);
  const submit = (action: () => Promise<unknown>): Promise<boolean> => {
    setFault(null);
    return run(action);
  };
  return { busy, fault, submit };
}

/** `run` returns whether the action succeeded. */
function useRun(onFault: (why: string) => void) {
  const [busy, setBusy] = useState(false);
  const run = async (action: () => Promise<unknown>): Promise<boolean> => {
    setBusy(true);
    try {
      await action();
      return true;
    } catch (error) {
      onFault(sentenceOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, run };
}

export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div
      aria-live="polite"
      className="pointer-events-none fixed inset-x-3 bottom-16 z-60 flex flex-col items-end gap-2 sm:bottom-4 sm:left-auto sm:w-96"
    >
      {shown.map((toast) => (
        <div
          key={toast.id}
          role={toast.tone === "fault" ? "alert" : "status"}
          className={clsx(
            "pointer-events-auto flex w-full items-start gap-2 rounded-lg border bg-raised p-3 shadow-lg",
            toast.tone === "fault" ? "border-danger/50 text-danger" : "border-line",
          )}
        >
          <p className="min-w-0 flex-1 break-words">{toast.text}</p>
          <IconButton label="Dismiss" onClick={() => close(toast.id)} Sign={X} signSize={14} />
        </div>
      ))}
    </div>
  );
}
