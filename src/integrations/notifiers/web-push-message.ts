/** What a browser is sent: a line that its service worker (src/web/public/sw.js) shows. The rest is in the dashboard. */
import { crypto } from "../../base/digest.ts";
import type { Notification } from "../../ports/notify.ts";
import type { VapidKey } from "./web-push-vapid.ts";

const maxTextLength = 300;
const maxTitleLength = 120;

export interface Message {
  /** Of what waits at a push service with the same topic only the newest is kept. */
  topic: string;
  at: number;
  text: Buffer;
}

export function messageFor({ title, text, session, at }: Notification, key: VapidKey): Message {
  const about = session === "" ? {} : { session };
  const payload = {
    title: oneLine(title, maxTitleLength),
    text: text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength - 1)}…`,
    ...about,
  };
  return { topic: topicOf(session, key), at, text: Buffer.from(JSON.stringify(payload)) };
}

/** Shown also while somebody looks at the page, who else would not see it. */
export function testMessage(key: VapidKey, at: number): Message {
  const payload = { title: "Holdfast", text: "Push reaches this browser.", test: true };
  return { topic: topicOf("test", key), at, text: Buffer.from(JSON.stringify(payload)) };
}

/** What came from outside is shown to people as one line. */
export function oneLine(text: string, most: number): string {
  return text
    .replaceAll(/[\p{C}\s]+/gu, " ")
    .trim()
    .slice(0, most);
}

/** The same for a session, and of no meaning to whoever carries it. */
function topicOf(name: string, { d }: VapidKey): string {
  return crypto().createHmac("sha256", d).update(name).digest("base64url").slice(0, 32);
}
