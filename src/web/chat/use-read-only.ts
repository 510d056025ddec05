import { useEffect, useState } from "react";
import { call } from "../shared/data/api.ts";
import { useLive } from "../shared/data/live.ts";

/** Whether this daemon changes nothing. Asked whenever the line is new; one that does not say refuses by itself. */
export function useReadOnly(): boolean {
  const isOpen = useLive((state) => state.line.is === "open");
  const [readOnly, setReadOnly] = useState(false);
  useEffect(() => {
    if (!isOpen) return undefined;
    let wanted = true;
    call("settings").then(
      (settings) => wanted && setReadOnly(settings.readOnly),
      () => {},
    );
    return () => {
      wanted = false;
    };
  }, [isOpen]);
  return readOnly;
}
