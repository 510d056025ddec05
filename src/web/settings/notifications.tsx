import { useState } from "react";
import { beep, notifyState, turnOnNotifications, type NotifyState } from "../shared/data/notify.ts";
import { preferences, usePreference } from "../shared/data/preferences.ts";
import { Button } from "../shared/ui/button.tsx";
import { Push } from "./push.tsx";
import { Section } from "./section.tsx";

const words: Record<NotifyState, string> = {
  on: "This browser calls you when a session asks, fails or finishes its turn while you look elsewhere. With several tabs open you are called once.",
  off: "This browser does not call you. The count of sessions that need you stands in the title and on the icon in any case.",
  denied:
    "This browser was told not to show notifications of this address. Allow them in its site settings, then come back.",
  unsupported:
    "Browsers show notifications only for pages of this machine or over https. Open it through an SSH tunnel or a TLS proxy: holdfast start --public-url https://<name>.",
};

export function Notifications() {
  const [state, setState] = useState(notifyState);
  const [sound, setSound] = usePreference("sound");
  return (
    <Section id="notifications" title="Notifications">
      <p role="status">{words[state]}</p>
      <div className="flex flex-wrap gap-2">
        {state === "off" && (
          <Button variant="primary" onClick={() => void turnOnNotifications().then(setState)}>
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
      <label className="flex items-center gap-2 pointer-coarse:min-h-10">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={sound}
          onChange={(event) => {
            setSound(event.target.checked);
            if (event.target.checked) beep();
          }}
        />
        A short sound with each notification
      </label>
      <Push />
    </Section>
  );
}
