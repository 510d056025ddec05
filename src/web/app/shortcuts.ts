/**
 * Keyboard shortcuts, active except in fields, terminals and dialogs. On the board the focus is the cursor: `j` and `k`
 * move it from card to card, and Enter follows the focused link.
 */
import { useEffect } from "react";
import { flushSync } from "react-dom";
import { useLocation } from "wouter";
import { boardView, searchInputId } from "../board/board-controls.tsx";
import { preferences } from "../shared/data/preferences.ts";
import { createStore } from "zustand";

/** Which overlay is open; their code is loaded on first use. */
type Overlay = "palette" | "help" | null;

export const overlays = createStore<{ open: Overlay }>(() => ({ open: null }));

export function openOverlay(open: Overlay): void {
  overlays.setState({ open });
}

/** How long after `g` the next key picks a page. */
const sequenceMs = 1_500;

export const shortcuts: { keys: string; does: string }[] = [
  { keys: "j k", does: "Next and previous session" },
  { keys: "h l", does: "Column to the left and to the right" },
  { keys: "Enter", does: "Open the session" },
  { keys: "m", does: "Session actions" },
  { keys: "/", does: "Search sessions" },
  { keys: "v", does: "Columns or list" },
  { keys: "n", does: "New session" },
  { keys: "Ctrl K or ⌘ K", does: "Command palette" },
  { keys: "g b", does: "Go to the board" },
  { keys: "g s", does: "Go to settings" },
  { keys: "g t", does: "Go to the trash" },
  { keys: "Ctrl Shift L", does: "Leave the terminal (Tab goes to the agent)" },
  { keys: "Ctrl Shift F", does: "Search the terminal's history" },
  { keys: "?", does: "Show keyboard shortcuts" },
  { keys: "Esc", does: "Close, or clear the search" },
];

export function useShortcuts(): void {
  const [, navigate] = useLocation();
  useEffect(() => {
    let goingSince = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented) return;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key === "k") {
        // In a shell, Ctrl-K cuts the line.
        if (event.ctrlKey && inTerminal(event.target)) return;
        event.preventDefault();
        return openOverlay("palette");
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || isCovered()) return;
      const going = event.timeStamp - goingSince < sequenceMs;
      goingSince = event.key === "g" && !going ? event.timeStamp : -Infinity;
      const act = going ? pages[event.key] : keys[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act(navigate);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [navigate]);
}

type Act = (navigate: (path: string) => void) => void;

const pages: Record<string, Act> = {
  b: (navigate) => navigate("/"),
  s: (navigate) => navigate("/settings"),
  t: (navigate) => navigate("/trash"),
  n: (navigate) => navigate("/new"),
};

const keys: Record<string, Act> = {
  j: () => moveBy(1),
  k: () => moveBy(-1),
  h: () => moveColumn(-1),
  l: () => moveColumn(1),
  m: () => currentCard()?.closest("article")?.querySelector<HTMLElement>("[aria-haspopup=menu]")?.click(),
  n: (navigate) => navigate("/new"),
  v: () => preferences.setState(({ boardAs }) => ({ boardAs: boardAs === "list" ? "columns" : "list" })),
  "/": (navigate) => searchFrom(navigate),
  "?": () => openOverlay("help"),
  Escape: () => boardView.setState({ query: "" }),
};

/** Focuses the board's search, opening the board first if needed. */
export function searchFrom(navigate: (path: string) => void): void {
  // Synchronously: the letters typed right after the `/` belong to the search.
  if (location.pathname !== "/") flushSync(() => navigate("/"));
  const input = document.getElementById(searchInputId);
  input?.focus();
  if (input instanceof HTMLInputElement) input.select();
}

function cards(within: ParentNode = document): HTMLElement[] {
  return [...within.querySelectorAll<HTMLElement>("[data-card]")];
}

function currentCard(): HTMLElement | null {
  return document.activeElement?.closest("article")?.querySelector<HTMLElement>("[data-card]") ?? null;
}

function moveBy(step: 1 | -1): void {
  const all = cards();
  const at = all.indexOf(currentCard()!);
  focusOn(at === -1 ? all[step === 1 ? 0 : all.length - 1] : all[at + step]);
}

/** Moves to the card at the same position in the next non-empty column. */
function moveColumn(step: 1 | -1): void {
  const current = currentCard();
  const columns = [...document.querySelectorAll<HTMLElement>("[data-column]")].map((column) => cards(column));
  const at = columns.findIndex((column) => column.includes(current!));
  if (at === -1) return moveBy(1);
  const position = columns[at]!.indexOf(current!);
  for (let next = at + step; next >= 0 && next < columns.length; next += step) {
    const column = columns[next]!;
    if (column.length > 0) return focusOn(column[Math.min(position, column.length - 1)]);
  }
}

function focusOn(card: HTMLElement | undefined): void {
  card?.focus();
  card?.closest("article")?.scrollIntoView({ block: "nearest" });
}

function isTyping({ target, key }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) return false;
  // Letters pick an option there; "/" does not.
  if (target instanceof HTMLSelectElement) return key !== "/";
  return target.isContentEditable || inTerminal(target) || target.matches("input:not([type=checkbox]), textarea");
}

function inTerminal(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest(".xterm") !== null;
}

/** An open dialog or menu owns the keyboard. */
function isCovered(): boolean {
  return document.querySelector("[role=dialog], [role=alertdialog], [role=menu]") !== null;
}
