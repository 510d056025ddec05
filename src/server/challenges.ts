/**
 * Challenges that browsers sign. Each carries a MAC of this process, so issuing one stores nothing, and one of an earlier
 * daemon or of another program on its port is invalid here. Only a challenge that came back with a valid signature is
 * remembered: it belongs to that device, and each number is accepted once with it.
 */
import { createHmac, randomBytes, randomFillSync, timingSafeEqual } from "node:crypto";

export const challengeLifeMs = 10 * 60_000;
/** Requests of one page overtake each other, but never by this many. */
const window = 1_024;
/** Tabs and their reconnections within the life of a challenge; older ones are refused beyond this. */
const maxPerDevice = 256;

const timeBytes = 6;
const randomPartBytes = 10;
const macBytes = 16;

interface Used {
  device: string;
  issuedAt: number;
  highest: number;
  counts: Set<number>;
}

export function createChallenges(now: () => number) {
  let secret: Buffer | undefined;
  const used = new Map<string, Used>();
  /** By device that used too many: challenges up to this time are refused. */
  const refusedUpTo = new Map<string, number>();

  const macOf = (head: Buffer): Buffer => {
    secret ??= randomBytes(32);
    return createHmac("sha256", secret).update(head).digest().subarray(0, macBytes);
  };

  /** Null if it is not ours or too old. */
  const issuedAt = (nonce: string): number | null => {
    const bytes = Buffer.from(nonce, "base64url");
    if (bytes.length !== timeBytes + randomPartBytes + macBytes || bytes.toString("base64url") !== nonce) return null;
    const head = bytes.subarray(0, timeBytes + randomPartBytes);
    if (!timingSafeEqual(macOf(head), bytes.subarray(timeBytes + randomPartBytes))) return null;
    const at = head.readUIntBE(0, timeBytes);
    const age = now() - at;
    // After a clock was set back they are in the future: refused too, or they would be valid for longer.
    return age >= 0 && age < challengeLifeMs ? at : null;
  };

  const forgetOld = (): void => {
    for (const [nonce, { issuedAt: at }] of used) if (now() - at >= challengeLifeMs || at > now()) used.delete(nonce);
    for (const [device, at] of refusedUpTo) if (now() - at >= challengeLifeMs) refusedUpTo.delete(device);
  };

  const begin = (nonce: string, device: string, at: number): Used => {
    forgetOld();
    const own = [...used].filter(([, each]) => each.device === device);
    if (own.length >= maxPerDevice) {
      const [oldest, { issuedAt: until }] = own.reduce((a, b) => (b[1].issuedAt < a[1].issuedAt ? b : a));
      used.delete(oldest);
      refusedUpTo.set(device, until);
    }
    const made = { device, issuedAt: at, highest: -1, counts: new Set<number>() };
    used.set(nonce, made);
    return made;
  };

  return {
    issue: (): string => {
      const head = Buffer.alloc(timeBytes + randomPartBytes);
      head.writeUIntBE(now(), 0, timeBytes);
      randomFillSync(head, timeBytes);
      return Buffer.concat([head, macOf(head)]).toString("base64url");
    },
    /** Whether this process issued it, and recently. */
    isFresh: (nonce: string): boolean => issuedAt(nonce) !== null,
    /** Uses a number up. Call it after the signature was checked. */
    take: (nonce: string, count: number, device: string): "taken" | "stale" | "replayed" => {
      const at = issuedAt(nonce);
      if (at === null || at <= (refusedUpTo.get(device) ?? -1)) return "stale";
      const known = used.get(nonce) ?? begin(nonce, device, at);
      if (known.device !== device) return "replayed";
      if (count <= known.highest - window || known.counts.has(count)) return "replayed";
      known.counts.add(count);
      known.highest = Math.max(known.highest, count);
      if (known.counts.size > 2 * window) {
        for (const each of known.counts) if (each <= known.highest - window) known.counts.delete(each);
      }
      return "taken";
    },
  };
}
