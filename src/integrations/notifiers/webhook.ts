import { defineNotifier, postJson, webAddress } from "./notifier.ts";

/** Sends the notification as JSON. A repeated delivery has the same `id`. */
export const webhook = defineNotifier({
  name: "webhook",
  description: "Address that receives each notification as JSON.",
  schema: webAddress(),
  quotable: [],
  send: (address, notification) => postJson(address, { ...notification, at: new Date(notification.at).toISOString() }),
});
