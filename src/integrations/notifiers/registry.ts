/** The channels that a project's settings name. */
import type { Channel, Notifiers } from "../../ports/notify.ts";
import { desktopChannel } from "./desktop.ts";
import { slackChannel } from "./slack.ts";
import { webhookChannel } from "./webhook.ts";

export function openNotifiers(): Notifiers {
  return {
    channels: ({ desktop, webhook, slack }) => {
      const channels = new Map<string, Channel>();
      if (desktop === true) channels.set("desktop", desktopChannel());
      if (webhook !== undefined) channels.set("webhook", webhookChannel(webhook));
      if (slack !== undefined) channels.set("slack", slackChannel(slack));
      return channels;
    },
  };
}
