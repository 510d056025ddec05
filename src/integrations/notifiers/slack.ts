/** A Slack incoming webhook. What came from outside must not call everybody or become a link of its own making. */
import type { Channel } from "../../ports/notify.ts";
import { postJson } from "./http.ts";

export function slackChannel(address: string): Channel {
  return ({ title, text }) => postJson(address, { text: `*${escape(title)}*\n${escape(text)}`, unfurl_links: false });
}

/** Slack's own three characters: without them nothing is a mention, a channel or a link with another face. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
