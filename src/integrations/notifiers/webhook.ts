/** A notification as JSON to an address of the person's own. `id` is the same when it is told again. */
import type { Channel } from "../../ports/notify.ts";
import { postJson } from "./http.ts";

export function webhookChannel(address: string): Channel {
  return (notification) => postJson(address, { ...notification, at: new Date(notification.at).toISOString() });
}
