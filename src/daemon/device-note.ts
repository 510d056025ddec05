/** The words that announce a new device to the person's other devices. */
import type { Notification } from "../ports/notify.ts";
import { rightWords } from "../contract/rights.ts";
import type { DeviceJson } from "../contract/wire.ts";

export function newDeviceNote({ id, name, rights, lastAddress }: DeviceJson, now: number): Notification {
  const from = lastAddress === null ? "" : ` from ${lastAddress}`;
  return {
    id: `device-${id}-${now}`,
    title: "New device logged in",
    text: `${name} logged in${from} and ${rightWords[rights]}. If that was not you, revoke it: holdfast device revoke ${id}`,
    session: "",
    project: "",
    why: "device",
    at: now,
  };
}
