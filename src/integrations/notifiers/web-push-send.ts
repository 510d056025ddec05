/** One push to one browser's push service, and what its answer means. The address is a secret: no message repeats it. */
import type { IncomingMessage } from "node:http";
import { PrivateAddress, publicLookup, refuseAddress } from "./web-push-address.ts";

export interface Parcel {
  endpoint: string;
  authorization: string;
  body: Buffer;
  topic: string;
}

export type Outcome =
  | { is: "sent" }
  /** The browser is gone for good, or nobody wants its pushes any more. */
  | { is: "gone" }
  /** Not now: again after `ms`, where the service said so. */
  | { is: "later"; why: string; ms: number | null }
  | { is: "refused"; why: string };

/** Nobody waits for it; a service that takes longer is taken for gone. */
const deadlineMs = 10_000;
/** As long as a notification is news (NOTE-3). */
export const lifeSeconds = 3600;

export async function sendPush(parcel: Parcel, loopback: boolean, signal: AbortSignal): Promise<Outcome> {
  // Again here: what is kept may have been put there by another version, or by hand.
  const wrong = refuseAddress(parcel.endpoint, loopback);
  if (wrong !== null) return { is: "refused", why: wrong };
  try {
    return judge(await post(parcel, AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)])));
  } catch (error) {
    return { is: "later", why: reason(error), ms: null };
  }
}

/** Not by fetch: only here can the place that a name resolves to be looked at, and nothing follows a redirect. */
function post({ endpoint, authorization, body, topic }: Parcel, signal: AbortSignal) {
  const url = new URL(endpoint);
  const { request } = process.getBuiltinModule(url.protocol === "https:" ? "node:https" : "node:http");
  return new Promise<IncomingMessage>((resolve, reject) => {
    const asked = request(url, {
      method: "POST",
      headers: {
        Authorization: authorization,
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "Content-Length": body.length,
        TTL: lifeSeconds,
        // A person is waited for: a phone that saves its battery would else show it when it is over.
        Urgency: "high",
        Topic: topic,
        "User-Agent": "holdfast",
      },
      lookup: publicLookup,
      agent: false,
      signal,
    });
    asked.on("response", (answer) => {
      // Only the head says anything.
      answer.destroy();
      resolve(answer);
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

function judge({ statusCode = 0, headers }: IncomingMessage): Outcome {
  if (statusCode >= 200 && statusCode < 300) return { is: "sent" };
  if (statusCode === 404 || statusCode === 410) return { is: "gone" };
  const why = `its push service answered with status ${statusCode}`;
  if (statusCode !== 429 && statusCode < 500) return { is: "refused", why };
  return { is: "later", why, ms: restOf(headers["retry-after"]) };
}

/** Seconds, or a date. */
function restOf(said: string | undefined): number | null {
  if (said === undefined) return null;
  const ms = /^\d+$/.test(said) ? Number(said) * 1000 : Date.parse(said) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

function reason(error: unknown): string {
  if (error instanceof PrivateAddress) return `its push service was not asked: ${error.message}`;
  if (error instanceof Error && (error.name === "TimeoutError" || error.name === "AbortError")) {
    return `its push service gave no answer within ${deadlineMs / 1000} s`;
  }
  const { code } = error as NodeJS.ErrnoException;
  return `its push service could not be reached${code === undefined ? "" : ` (${code})`}`;
}
