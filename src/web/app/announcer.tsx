/** Says to a screen reader what others see: a session that asks, fails or finishes. Shows what the daemon notifies of. */
import { useEffect, useState } from "react";
import { rightWords } from "../../contract/rights.ts";
import type { DeviceJson } from "../../contract/wire.ts";
import { callsFor, notesFor } from "../shared/data/attention.ts";
import { onChanges, onDevices, onEvents } from "../shared/data/live.ts";
import { statusNow } from "../shared/data/notify.ts";
import { preferences } from "../shared/data/preferences.ts";
import { plainText } from "../shared/ui/safe-text.ts";
import { say } from "../shared/ui/toast.tsx";

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
  useEffect(
    () =>
      onEvents("*", (events) => {
        for (const { title, text } of notesFor(events, statusNow)) say(plainText(`${title}. ${text}`));
      }),
    [],
  );
  useEffect(
    () =>
      onDevices((added) => {
        if (added !== null) say(plainText(deviceWords(added)), "fault");
      }),
    [],
  );
  useEffect(() => {
    if (preferences.getState().push !== null) void lookAfterPush();
  }, []);
  return (
    <p aria-live="polite" className="sr-only">
      {words}
    </p>
  );
}

/** It stays until it is read: a device that is not the person's own must be seen. */
function deviceWords({ name, lastAddress, rights }: DeviceJson): string {
  const from = lastAddress === null ? "" : ` from ${lastAddress}`;
  return `New device: ${name} logged in${from} and ${rightWords[rights]}. If that was not you, revoke it in the settings.`;
}

/** A daemon that cannot say it now is asked when the page is next opened. */
async function lookAfterPush(): Promise<void> {
  const { keepSubscribed } = await import("../shared/data/push.ts");
  const said = await keepSubscribed().catch(() => null);
  if (said !== null) say(said, "fault");
}
