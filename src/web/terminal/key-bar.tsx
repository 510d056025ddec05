/** Keys that phone keyboards lack. They never take the focus: the keyboard would close. */
import {
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  ArrowUp,
  ClipboardPaste,
  CornerDownLeft,
  type LucideIcon,
} from "lucide-react";
import { clsx } from "clsx";

/** Keys that a phone's keyboard does not have, as terminals send them. */
const keyNames = ["esc", "tab", "ctrl", "up", "down", "left", "right", "ctrl-c", "enter"] as const;
export type KeyName = (typeof keyNames)[number];

const arrows: Partial<Record<KeyName, string>> = { up: "A", down: "B", right: "C", left: "D" };

/** @param application whether the program enabled application cursor keys. */
export function keyBytes(key: Exclude<KeyName, "ctrl">, application: boolean): string {
  const arrow = arrows[key];
  if (arrow !== undefined) return `${application ? "\u001bO" : "\u001b["}${arrow}`;
  if (key === "esc") return "\u001b";
  if (key === "tab") return "\t";
  if (key === "ctrl-c") return "\u0003";
  return "\r";
}

/** The letter with Ctrl held; other text is returned unchanged. */
export function withCtrl(text: string): string {
  if (text.length !== 1) return text;
  const code = text.toUpperCase().charCodeAt(0);
  if (text === " ") return "\u0000";
  return code >= 0x40 && code <= 0x5f ? String.fromCharCode(code - 0x40) : text;
}

const keys: { key: KeyName | "paste"; label: string; face: string | LucideIcon }[] = [
  { key: "esc", label: "Escape", face: "Esc" },
  { key: "tab", label: "Tab", face: "Tab" },
  { key: "ctrl", label: "Hold Ctrl for the next key", face: "Ctrl" },
  { key: "ctrl-c", label: "Ctrl-C", face: "^C" },
  { key: "up", label: "Up", face: ArrowUp },
  { key: "down", label: "Down", face: ArrowDown },
  { key: "left", label: "Left", face: ArrowLeft },
  { key: "right", label: "Right", face: ArrowRight },
  { key: "paste", label: "Paste", face: ClipboardPaste },
  { key: "enter", label: "Enter", face: CornerDownLeft },
];

export interface KeyBarProps {
  disabled: boolean;
  ctrl: boolean;
  onKey: (key: KeyName | "paste") => void;
}

export function KeyBar({ disabled, ctrl, onKey }: KeyBarProps) {
  return (
    <div
      role="toolbar"
      aria-label="Keys"
      className="hidden shrink-0 grid-cols-10 gap-1 border-t border-line bg-panel p-1 pointer-coarse:grid"
    >
      {keys.map(({ key, label, face: Face }) => (
        <button
          key={key}
          type="button"
          aria-label={label}
          title={label}
          disabled={disabled}
          {...(key === "ctrl" ? { "aria-pressed": ctrl } : {})}
          className={clsx(
            "flex h-10 min-w-0 items-center justify-center rounded-md border text-xs disabled:opacity-50",
            key === "ctrl" && ctrl ? "border-accent bg-accent text-accent-ink" : "border-line bg-raised",
          )}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onKey(key)}
        >
          {typeof Face === "string" ? Face : <Face size={16} aria-hidden />}
        </button>
      ))}
    </div>
  );
}
