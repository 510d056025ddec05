import { beforeEach, describe, expect, test } from "vitest";
import { memorySettings } from "./api.fixture.ts";
import { createLockout } from "./lockout.ts";

const minute = 60_000;
const day = 24 * 60 * minute;
let now: number;
let settings: ReturnType<typeof memorySettings>;
beforeEach(() => {
  now = 1_700_000_000_000;
  settings = memorySettings();
});

/** A new one each time, as after a restart. */
async function guess(address: string, right = false): Promise<string> {
  const lockout = createLockout(settings, () => now);
  try {
    await lockout.begin(address);
    if (right) await lockout.succeeded(address);
    return "tried";
  } catch (error) {
    return (error as Error).message;
  }
}

const locked = (time: string): string => `Too many wrong passphrases. Try again in ${time}.`;

describe("[LIMIT-6] guesses of the passphrase", () => {
  test("of one address are five in a row, then one every five minutes; other addresses are not kept out", async () => {
    for (let n = 0; n < 5; n++) expect(await guess("203.0.113.7")).toBe("tried");
    expect(await guess("203.0.113.7")).toBe(locked("5 minutes"));
    expect(await guess("203.0.113.8")).toBe("tried");
    now += 5 * minute;
    expect(await guess("203.0.113.7")).toBe("tried");
    expect(await guess("203.0.113.7")).toBe(locked("5 minutes"));
  });

  test("one an hour never adds up, and the right one clears its address", async () => {
    for (let hour = 0; hour < 200; hour++) {
      expect(await guess("203.0.113.7")).toBe("tried");
      now += 60 * minute;
    }
    for (let n = 0; n < 4; n++) expect(await guess("203.0.113.7")).toBe("tried");
    expect(await guess("203.0.113.7", true)).toBe("tried");
    for (let n = 0; n < 5; n++) expect(await guess("203.0.113.7")).toBe("tried");
  });

  test("of all addresses together are limited, which time forgives", async () => {
    for (let n = 0; n < 30; n++) expect(await guess(`2001:db8:${n}::1`)).toBe("tried");
    expect(await guess("198.51.100.1")).toBe("Too many wrong passphrases from all addresses. Try again in 60 seconds.");
    now += 2 * minute;
    expect(await guess("198.51.100.1", true)).toBe("tried");
  });

  test("count an IPv6 network and all of loopback as one address", async () => {
    for (let n = 0; n < 5; n++) expect(await guess(`2001:db8:1:2::${n}`)).toBe("tried");
    expect(await guess("2001:db8:1:2:aaaa::1")).toBe(locked("5 minutes"));
    for (const each of ["127.0.0.1", "127.0.0.2", "::1", "::ffff:127.0.0.1", "127.9.9.9"]) await guess(each);
    expect(await guess("127.0.0.3")).toBe(locked("5 minutes"));
  });

  test("are not locked for longer by a clock that was set back, nor by what an earlier build kept", async () => {
    for (let n = 0; n < 5; n++) await guess("203.0.113.7");
    now -= 10 * day;
    expect(await guess("203.0.113.7")).toBe(locked("5 minutes"));
    now += 5 * minute;
    expect(await guess("203.0.113.7")).toBe("tried");
    settings.values.set("access.lockout", JSON.stringify({ failures: 500, lockedUntil: now + day }));
    expect(await guess("203.0.113.9")).toContain("Try again in 60 seconds.");
    now += minute;
    expect(await guess("203.0.113.9")).toBe("tried");
  });

  test("leave a bounded record", async () => {
    const many = Array.from({ length: 300 }, (_, n) => [`192.0.2.${n}`, { failures: 2, at: now }] as const);
    settings.values.set("access.lockout", JSON.stringify({ addresses: Object.fromEntries(many) }));
    await guess("203.0.113.7");
    const kept = JSON.parse(settings.values.get("access.lockout")!) as { addresses: object };
    expect(Object.keys(kept.addresses).length).toBeLessThanOrEqual(257);
  });
});
