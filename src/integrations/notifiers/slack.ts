import { defineNotifier, postJson, webAddress } from "./notifier.ts";

export const slack = defineNotifier({
  name: "slack",
  description: "Address of a Slack incoming webhook.",
  schema: webAddress(),
  quotable: [],
  send: (address, { title, text }) =>
    postJson(address, { text: `*${escape(title)}*\n${escape(text)}`, unfurl_links: false }),
});

/** Slack's three control characters: unescaped, external text could mention a channel or disguise a link. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
