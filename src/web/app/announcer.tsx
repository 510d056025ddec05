/** Says to a screen reader what others see: a session that asks, fails or finishes. */
import { useEffect, useState } from "react";
import { callsFor } from "../state/attention.ts";
import { onChanges } from "../state/live.ts";
import { plainText } from "../ui/plain-text.ts";

export function Announcer() {
  const [words, setWords] = useState("");
  useEffect(
    () =>
      onChanges((changes) => {
        const calls = callsFor(changes);
        if (calls.length > 0) setWords(calls.map(({ session, text }) => `${session}: ${plainText(text)}`).join(" "));
      }),
    [],
  );
  return (
    <p aria-live="polite" className="sr-only">
      {words}
    </p>
  );
}
