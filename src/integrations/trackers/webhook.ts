/**
 * Whether a webhook is a project's. It only ever makes the daemon ask sooner, so nothing in it is read: its bytes go
 * through the signature as they come, and none is kept.
 */
import { crypto } from "../../base/digest.ts";
import type { TrackerSettings } from "../../ports/tracker.ts";

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Checks the body piece by piece; `isSigned` once all of it was taken. */
export interface WebhookCheck {
  take(piece: Uint8Array): void;
  isSigned(): boolean;
}

/** What GitHub sends, to the letter. */
const githubSignature = /^sha256=[0-9a-f]{64}$/;
/** GitLab's token is compared as it is: longer than this no secret is. */
const maxTokenLength = 1024;

/** Null where its headers alone show that it is not signed with the secret; header names in lower case, as Node has them. */
export function openWebhook(settings: TrackerSettings, headers: Headers, secret: string): WebhookCheck | null {
  if (secret === "") return null;
  if (settings.type === "github") return openGithubs(headers["x-hub-signature-256"], secret);
  if (settings.type !== "gitlab") return null;
  const given = headers["x-gitlab-token"];
  const fits = typeof given === "string" && given.length <= maxTokenLength && isSame(given, secret);
  return fits ? { take: () => undefined, isSigned: () => true } : null;
}

function openGithubs(given: Headers[string], secret: string): WebhookCheck | null {
  if (typeof given !== "string" || !githubSignature.test(given)) return null;
  const hmac = crypto().createHmac("sha256", secret);
  return { take: (piece) => void hmac.update(piece), isSigned: () => isSame(given, `sha256=${hmac.digest("hex")}`) };
}

/** Of digests, so that neither contents nor lengths show in the time it takes. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => crypto().createHash("sha256").update(text).digest();
  return crypto().timingSafeEqual(digest(a), digest(b));
}
