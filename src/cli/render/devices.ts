/** `device ls`. */
import type { DeviceJson } from "../../contract/wire.ts";
import { ageOf, clean, table } from "./text.ts";

const head = ["ID", "NAME", "RIGHTS", "LAST SEEN", "ADDRESS", "LOGGED IN"];

export function deviceLines(devices: readonly DeviceJson[], now: number): string[] {
  if (devices.length === 0) return ["No browser is logged in. Run: holdfast dashboard"];
  const rows = devices.map(({ id, name, rights, lastSeen, lastAddress, createdAt }) => [
    id,
    clean(name),
    rights,
    `${ageOf(lastSeen, now)} ago`,
    lastAddress ?? "-",
    `${ageOf(createdAt, now)} ago`,
  ]);
  return table([head, ...rows]);
}
