/** Which overlay is open. They are loaded when they are first wanted. */
import { createStore } from "zustand";

export type Overlay = "palette" | "help" | null;

export const overlays = createStore<{ open: Overlay }>(() => ({ open: null }));

export function openOverlay(open: Overlay): void {
  overlays.setState({ open });
}
