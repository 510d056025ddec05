/**
 * Challenges that browsers sign. Each is vouched for by a key of this process alone, so that giving one out keeps
 * nothing, and one of an earlier daemon, or of another program on its port, is worth nothing here. Only a challenge that
 * came back with a valid signature is remembered: it belongs to that device, and each number is taken once with it.
 */
import { crypto } from "../base/digest.ts";

export const challengeLifeMs = 10 * 60_000;
/** Requests of one page overtake each other, but never by this many. */
const window = 1_024;
/** Tabs and their reconnections within the life of a challenge; older ones are refused beyond this. */
const maxPerDevice = 256;

const timeBytes = 6;
const randomBytes = 10;
const macBytes = 16;

export interface Challenges {
  issue(): string;
  /** Whether it is one of this process, and fresh. */
  isFresh(nonce: string): boolean;
  /** Uses a number up. To be called once the signature has been checked. */
  take(nonce: string, count: number, device: string): "taken" | "stale" | "replayed";
}

interface Used {
  device: string;
  issuedAt: number;
  highest: number;
  counts: Set<number>;
}

export function createChallenges(now: () => number): Challenges {
  let secret: Buffer | undefined;
  const used = new Map<string, Used>();
  /** Of devices that used too many: challenges up to this time are refused. */
  const refusedUpTo = new Map<string, number>();

  const macOf = (head: Buffer): Buffer => {
    secret ??= crypto().randomBytes(32);
    return crypto().createHmac("sha256", secret).update(head).digest().subarray(0, macBytes);
  };

  /** Null where it is not ours or too old. */
  const issuedAt = (nonce: string): number | null => {
    const bytes = Buffer.from(nonce, "base64url");
    if (bytes.length !== timeBytes + randomBytes + macBytes || bytes.toString("base64url") !== nonce) return null;
    const head = bytes.subarray(0, timeBytes + randomBytes);
    if (!crypto().timingSafeEqual(macOf(head), bytes.subarray(timeBytes + randomBytes))) return null;
    const at = head.readUIntBE(0, timeBytes);
    const age = now() - at;
    // A clock that was set back makes them of the future: refused as well, or they would live for longer.
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
    issue: () => {
      const head = Buffer.alloc(timeBytes + randomBytes);
      head.writeUIntBE(now(), 0, timeBytes);
      crypto().randomFillSync(head, timeBytes);
      return Buffer.concat([head, macOf(head)]).toString("base64url");
    },
    isFresh: (nonce) => issuedAt(nonce) !== null,
    take: (nonce, count, device) => {
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
