import { useState } from "react";
import { beep, notifyState, enableNotifications, type NotifyState } from "../shared/data/notify.ts";
import { preferences, usePreference } from "../shared/data/preferences.ts";
import { Button } from "../shared/ui/button.tsx";
import { Checkbox } from "../shared/ui/field.tsx";
import { Section, WhenLoaded, Row } from "./section.tsx";
import type { PushBrowserJson, PushJson } from "../../contract/push.ts";
import { call, sentenceOf } from "../shared/data/api.ts";
import { pushObstacle, subscribeHere, unsubscribeHere } from "../shared/data/push.ts";
import { Age } from "../shared/ui/age.tsx";
import { showToast, useAction } from "../shared/ui/toast.tsx";
import { useQuery } from "../shared/data/use-query.ts";

const descriptions: Record<NotifyState, string> = {
  on: "This browser notifies you when a session needs input, fails or finishes a turn while you are away. With several tabs open, you are notified once.",
  off: "Notifications are off. The title and the icon still show how many sessions need you.",
  denied: "Notifications are blocked for this site. Allow them in the browser's site settings, then reload.",
  unsupported:
    "Browsers show notifications only for local pages or over HTTPS. Use an SSH tunnel or a TLS proxy: holdfast start --public-url https://<name>.",
};

export function Notifications() {
  const [state, setState] = useState(notifyState);
  const [sound, setSound] = usePreference("sound");
  const [push, reload] = useQuery("push");
  return (
    <Section id="notifications" title="Notifications">
      <p role="status">{descriptions[state]}</p>
      <div className="flex flex-wrap gap-2">
        {state === "off" && (
          <Button variant="primary" onClick={() => void enableNotifications().then(setState)}>
            Turn on notifications
          </Button>
        )}
        {state === "on" && (
          <Button
            onClick={() => {
              preferences.setState({ notify: false });
              setState(notifyState());
            }}
          >
            Turn off notifications
          </Button>
        )}
      </div>
      <Checkbox
        checked={sound}
        onChange={(next) => {
          setSound(next);
          if (next) beep();
        }}
      >
        Play a sound with each notification
      </Checkbox>
      <WhenLoaded query={push} onRetry={reload}>
        {(known) => <PushSettings push={known} onChanged={reload} />}
      </WhenLoaded>
    </Section>
  );
}

function PushSettings({ push: { publicKey, browsers }, onChanged }: { push: PushJson; onChanged: () => void }) {
  const [here] = usePreference("push");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(pushObstacle);
  // The reason is shown above.
  const canNotify = !["denied", "unsupported"].includes(notifyState());
  const on = here !== null && browsers.some(({ id }) => id === here);
  const turn = async (next: boolean): Promise<void> => {
    setBusy(true);
    setProblem(null);
    try {
      if (next) setProblem(await subscribeHere(publicKey));
      else await unsubscribeHere();
    } catch (error) {
      setProblem(sentenceOf(error));
    }
    onChanged();
    setBusy(false);
  };
  return (
    <>
      <Checkbox
        role="switch"
        checked={on}
        disabled={busy || (!on && pushObstacle() !== null)}
        aria-describedby="push-note"
        onChange={(next) => void turn(next)}
      >
        Push to this browser, even when no tab is open
      </Checkbox>
      <p id="push-note" className="text-xs text-dim">
        Sent through the browser's own push service, encrypted so that only this browser can read it. You are notified
        about what the projects' reactions are set to notify: by default permission requests, exited agents, and pull
        requests that can be merged.
      </p>
      <p role="status" className="text-alert empty:hidden">
        {busy ? "Asking the browser …" : problem !== null && !canNotify ? "Push requires notifications." : problem}
      </p>
      {browsers.length > 0 && (
        <ul aria-label="Browsers with push" className="flex flex-col gap-2">
          {browsers.map((browser) => (
            <Browser key={browser.id} browser={browser} isHere={browser.id === here} onChanged={onChanged} />
          ))}
        </ul>
      )}
    </>
  );
}

function Browser({ browser, isHere, onChanged }: { browser: PushBrowserJson; isHere: boolean; onChanged: () => void }) {
  const { id, label, service, createdAt, lastOk, failure } = browser;
  const { busy, run } = useAction(label);
  const attempt = (action: () => Promise<unknown>): Promise<void> => run(action).then(onChanged);
  const test = async (): Promise<void> => {
    const { sent, why } = await call("pushTest", { params: { id }, body: {} });
    if (sent) showToast(`Test sent to ${label}. It should arrive within seconds.`);
    else showToast(`Could not reach ${label}: ${why ?? "no reason given"}.`, "fault");
  };
  const remove = async (): Promise<void> => {
    if (isHere) await unsubscribeHere();
    else await call("pushRemove", { params: { id } });
  };
  return (
    <Row
      action={
        <span className="flex gap-2">
          <Button size="small" disabled={busy} aria-label={`Send test to ${label}`} onClick={() => void attempt(test)}>
            Send test
          </Button>
          <Button size="small" disabled={busy} aria-label={`Remove ${label}`} onClick={() => void attempt(remove)}>
            Remove
          </Button>
        </span>
      }
    >
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="font-medium">{label}</span>
        {isHere && <span className="text-xs text-accent">this browser</span>}
        <span className="text-xs text-dim">
          via <span className="font-mono">{service}</span>, subscribed <Age of={createdAt} />
          {lastOk !== null && (
            <>
              , last reached <Age of={lastOk} />
            </>
          )}
        </span>
      </p>
      {failure !== null && (
        <p className="text-xs text-alert">
          The last push failed: {failure.why} (<Age of={failure.at} />)
        </p>
      )}
    </Row>
  );
}
