/** Announces to screen readers that a session needs input, fails or finishes; shows the daemon's notifications as toasts. */
import { useEffect, useState } from "react";
import { rightText } from "../../contract/rights.ts";
import type { DeviceJson } from "../../contract/device.ts";
import { alertsFor, notificationAlerts } from "../shared/data/attention.ts";
import { onChanges, onDevices, onEvents } from "../shared/data/live.ts";
import { statusNow } from "../shared/data/notify.ts";
import { preferences } from "../shared/data/preferences.ts";
import { plainText } from "../shared/ui/safe-text.ts";
import { showToast } from "../shared/ui/toast.tsx";

export function Announcer() {
  const [text, setText] = useState("");
  useEffect(() => {
    if (preferences.getState().push !== null) void checkPush();
    const stops = [
      onChanges((changes) => {
        const alerts = alertsFor(changes);
        if (alerts.length > 0) setText(alerts.map((alert) => `${alert.session}: ${plainText(alert.text)}`).join(" "));
      }),
      onEvents("*", (events) => {
        for (const { title, text } of notificationAlerts(events, statusNow)) showToast(plainText(`${title}. ${text}`));
      }),
      onDevices((added) => void (added !== null && showToast(plainText(describeDevice(added)), "fault"))),
    ];
    return () => stops.forEach((stop) => stop());
  }, []);
  return (
    <p aria-live="polite" className="sr-only">
      {text}
    </p>
  );
}

/** Shown until dismissed: the user must see a device that is not theirs. */
function describeDevice({ name, lastAddress, rights }: DeviceJson): string {
  const from = lastAddress === null ? "" : ` from ${lastAddress}`;
  return `New device: ${name} logged in${from} and ${rightText[rights]}. If this was not you, revoke it in Settings.`;
}

/** If the daemon cannot answer now, the next page load asks again. */
async function checkPush(): Promise<void> {
  const { keepSubscribed } = await import("../shared/data/push.ts");
  const problem = await keepSubscribed().catch(() => null);
  if (problem !== null) showToast(problem, "fault");
}
