/**
 * Every tracker: what configuration and token lookup need to know of it, how its webhooks are verified, and how its
 * adapter is loaded. Adapters load with the first lookup.
 */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { TrackerType } from "../../contract/tracker.ts";
import type { TrackerSettings } from "../../ports/tracker.ts";
import type { Account } from "./account.ts";
import type { Bounds, OpenedTracker } from "./result.ts";

interface TrackerDefinition {
  /** Its name in sentences. */
  title: string;
  publicHost: string;
  /** Variables that contain a token for the public service. */
  variables: readonly string[];
  /** Variables for self-hosted instances, used only for hosts that the user's config.yaml names. */
  selfHostedVariables: readonly string[];
  /** Whether it hosts code. If not, pull requests are at the host of the origin remote. */
  hasCode: boolean;
  /** Null if the headers alone prove that the webhook is not signed with the secret, or if it has no webhooks. */
  webhook(headers: Headers, secret: string): WebhookCheck | null;
  open(settings: TrackerSettings, account: Account, bounds: Bounds): Promise<OpenedTracker>;
}

export const trackers: Record<TrackerType, TrackerDefinition> = {
  github: {
    title: "GitHub",
    publicHost: "github.com",
    variables: ["GITHUB_TOKEN", "GH_TOKEN"],
    selfHostedVariables: ["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"],
    hasCode: true,
    webhook: (headers, secret) => signedBody(headers["x-hub-signature-256"], secret),
    open: async (...given) => (await import("./github/github.ts")).openGithub(...given),
  },
  gitlab: {
    title: "GitLab",
    publicHost: "gitlab.com",
    variables: ["GITLAB_TOKEN"],
    selfHostedVariables: [],
    hasCode: true,
    webhook: (headers, secret) => sharedToken(headers["x-gitlab-token"], secret),
    open: async (...given) => (await import("./gitlab/gitlab.ts")).openGitlab(...given),
  },
  linear: {
    title: "Linear",
    publicHost: "linear.app",
    variables: ["LINEAR_API_KEY"],
    selfHostedVariables: [],
    hasCode: false,
    webhook: () => null,
    open: async (...given) => (await import("./linear/linear.ts")).openLinear(...given),
  },
};

/** Header names in lower case, as Node has them. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Reads the body piece by piece and keeps none of it; a webhook only makes the daemon poll sooner. */
export interface WebhookCheck {
  take(piece: Uint8Array): void;
  /** Valid once the complete body was read. */
  isSigned(): boolean;
}

export function openWebhook({ type }: TrackerSettings, headers: Headers, secret: string): WebhookCheck | null {
  return secret === "" ? null : trackers[type].webhook(headers, secret);
}

function signedBody(given: Headers[string], secret: string): WebhookCheck | null {
  if (typeof given !== "string" || !/^sha256=[0-9a-f]{64}$/.test(given)) return null;
  const hmac = createHmac("sha256", secret);
  return { take: (piece) => void hmac.update(piece), isSigned: () => isSame(given, `sha256=${hmac.digest("hex")}`) };
}

/** No secret is longer. */
const maxTokenLength = 1024;

function sharedToken(given: Headers[string], secret: string): WebhookCheck | null {
  const matches = typeof given === "string" && given.length <= maxTokenLength && isSame(given, secret);
  return matches ? { take: () => undefined, isSigned: () => true } : null;
}

/** Compares digests, so that the time taken reveals neither contents nor lengths. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
