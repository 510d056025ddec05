import { lazy, Suspense } from "react";
import { useStore } from "zustand";
import { openOverlay, overlays } from "../shared/data/overlays.ts";

const Palette = lazy(() => import("./palette.tsx"));
const Help = lazy(() => import("./help.tsx"));

export function Overlays() {
  const open = useStore(overlays, (state) => state.open);
  if (open === null) return null;
  const close = (): void => openOverlay(null);
  return <Suspense>{open === "palette" ? <Palette onClose={close} /> : <Help onClose={close} />}</Suspense>;
}
