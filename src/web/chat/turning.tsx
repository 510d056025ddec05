import type { ReactNode } from "react";

/** Turns what is inside. A box of its own is turned by the compositor; a drawing would cost the main thread each frame. */
export function Turning({ children }: { children: ReactNode }) {
  return <span className="inline-flex animate-spin will-change-transform">{children}</span>;
}
