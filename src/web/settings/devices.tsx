/** Logged-in browsers: what each may do, and how to revoke it. */
import { useEffect, useState } from "react";
import { rights, type Right } from "../../contract/rights.ts";
import type { DeviceJson } from "../../contract/device.ts";
import { call } from "../shared/data/api.ts";
import { logOutThisBrowser } from "../shared/data/connect.ts";
import { onDevices, useMay } from "../shared/data/live.ts";
import { Age } from "../shared/ui/age.tsx";
import { Button } from "../shared/ui/button.tsx";
import { Commands } from "../shared/ui/code-text.tsx";
import { ConfirmDialog } from "../shared/ui/dialog.tsx";
import { InlineEdit, Select } from "../shared/ui/field.tsx";
import { plainText } from "../shared/ui/safe-text.ts";
import { useAction } from "../shared/ui/toast.tsx";
import { useQuery } from "../shared/data/use-query.ts";
import { WhenLoaded, Row, Section } from "./section.tsx";

const rightLabels: Record<Right, string> = {
  watch: "Watch only",
  answer: "Watch and answer",
  all: "Everything",
};

export function Devices() {
  const [devices, reload] = useQuery("devices");
  const [asking, setAsking] = useState(false);
  const may = useMay("all");
  useEffect(() => onDevices(reload), [reload]);
  return (
    <Section
      id="devices"
      title="Devices"
      note={<Commands text="Logged-in browsers. To add one, run `holdfast pair` on the daemon's machine." />}
      action={
        may && (
          <Button size="small" variant="danger" onClick={() => setAsking(true)}>
            Log out everywhere
          </Button>
        )
      }
    >
      <WhenLoaded query={devices} onRetry={reload}>
        {(list) => (
          <ul aria-label="Devices" className="flex flex-col gap-2">
            {list.map((device) => (
              <Device key={device.id} device={device} may={may} onChanged={reload} />
            ))}
          </ul>
        )}
      </WhenLoaded>
      {asking && (
        <ConfirmDialog
          title="Log out everywhere?"
          description="Every browser, including this one, must log in again. Unused login links and push subscriptions are revoked. Sessions keep running."
          keep="Stay logged in"
          confirm="Log out everywhere"
          act={logOutEverywhere}
          onClose={() => setAsking(false)}
        />
      )}
    </Section>
  );
}

function Device({ device, may, onChanged }: { device: DeviceJson; may: boolean; onChanged: () => void }) {
  const { id, isYou, rights: has, createdAt, lastSeen, lastAddress } = device;
  const name = plainText(device.name);
  const [renaming, setRenaming] = useState(false);
  const { busy, run } = useAction(name);
  const attempt = (action: () => Promise<unknown>): Promise<void> => run(action).then(onChanged);
  const edit = (body: { name?: string; rights?: Right }) => attempt(() => call("deviceEdit", { params: { id }, body }));
  const rename = (next: string): void => {
    setRenaming(false);
    void edit({ name: next });
  };
  return (
    <Row
      action={
        <span className="flex flex-wrap items-center gap-2">
          {/* Removing its own full rights would lock this page out; another device or the command line can do it. */}
          <Select
            aria-label={`Rights of ${name}`}
            className="w-auto py-0.5 text-xs sm:text-xs"
            value={has}
            disabled={!may || busy || isYou}
            onChange={(event) => void edit({ rights: event.target.value as Right })}
          >
            {rights.map((right) => (
              <option key={right} value={right}>
                {rightLabels[right]}
              </option>
            ))}
          </Select>
          {may && (
            <Button size="small" disabled={busy} aria-label={`Rename ${name}`} onClick={() => setRenaming(true)}>
              Rename
            </Button>
          )}
          {isYou ? (
            <Button size="small" disabled={busy} onClick={() => void logOutThisBrowser()}>
              Log out
            </Button>
          ) : (
            may && (
              <Button
                size="small"
                variant="danger"
                disabled={busy}
                aria-label={`Revoke ${name}`}
                onClick={() => void attempt(() => call("deviceRevoke", { params: { id } }))}
              >
                Revoke
              </Button>
            )
          )}
        </span>
      }
    >
      {renaming ? (
        <InlineEdit
          aria-label="Device name"
          autoFocus
          maxLength={80}
          value={device.name}
          onSave={rename}
          onClose={() => setRenaming(false)}
        />
      ) : (
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="font-medium">{name}</span>
          {isYou && <span className="text-xs text-accent">this device</span>}
        </p>
      )}
      <p className="text-xs text-dim">
        Last seen <Age of={lastSeen} />
        {lastAddress !== null && ` from ${lastAddress}`}, logged in <Age of={createdAt} />
      </p>
    </Row>
  );
}

async function logOutEverywhere(): Promise<void> {
  await call("logout", { body: { all: true } });
  await logOutThisBrowser();
}
