/** `device ls`. */
import type { DeviceJson } from "../../contract/wire.ts";
import { clean, table } from "./text.ts";
import { formatAgeOf } from "../../model/duration.ts";

const head = ["ID", "NAME", "RIGHTS", "LAST SEEN", "ADDRESS", "LOGGED IN"];

export function deviceLines(devices: readonly DeviceJson[], now: number): string[] {
  if (devices.length === 0) return ["No browser is logged in. Run: holdfast dashboard"];
  const rows = devices.map(({ id, name, rights, lastSeen, lastAddress, createdAt }) => [
    id,
    clean(name),
    rights,
    `${formatAgeOf(lastSeen, now)} ago`,
    lastAddress ?? "-",
    `${formatAgeOf(createdAt, now)} ago`,
  ]);
  return table([head, ...rows]);
}
