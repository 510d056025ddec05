/** A tracker's own notice that something changed. It is believed only if it is signed, and even then it only wakes the poller. */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { RawBody } from "../ports/commands.ts";
import { HoldfastError } from "../protocol/error.ts";

export function checkWebhook(body: RawBody, secret: string): void {
  const header = (name: string): string => {
    const value = body.headers[name];
    return typeof value === "string" ? value : "";
  };
  const digest = createHmac("sha256", secret).update(body.bytes).digest("hex");
  const signed =
    isSame(header("x-hub-signature-256"), `sha256=${digest}`) ||
    isSame(header("linear-signature"), digest) ||
    // GitLab sends the secret itself.
    isSame(header("x-gitlab-token"), secret);
  if (!signed) throw refusal();
}

/** The same whatever is wrong: a stranger learns nothing of which projects there are. */
export function refusal(): HoldfastError {
  return new HoldfastError("unauthorized", "The webhook is not signed with the project's secret.", {
    hint: "Set tracker.webhookSecretEnv to the name of a variable of the daemon, and its value as the webhook's secret.",
  });
}

function isSame(a: string, b: string): boolean {
  const [first, second] = [Buffer.from(a), Buffer.from(b)];
  return first.length === second.length && timingSafeEqual(first, second);
}
