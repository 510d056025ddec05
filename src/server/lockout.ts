/**
 * Slows guessing of the passphrase down: per address, so that one guesser does not keep others out, and for all
 * addresses together, so that many of them do not help. Both forgive with time: occasional wrong guesses never add up.
 * Behind a proxy all addresses look the same, and forwarded ones are ignored. The store keeps it, so a restart forgives
 * nothing. Login links from the CLI and access already given keep working.
 */
import { Refusal } from "./response.ts";
import { peerOf } from "./strangers.ts";

const key = "access.lockout";
const minuteMs = 60_000;
/** Guesses in a row, and how long it takes until one of them is forgiven. */
export const guessLimits = {
  address: { burst: 5, forgiveMs: 5 * minuteMs },
  all: { burst: 30, forgiveMs: minuteMs },
};
/** Of more addresses those with the fewest failures are forgotten; the limit for all still counts them. */
const maxAddresses = 256;

export interface Settings {
  get(key: string): string | null;
  put(key: string, value: string | null): Promise<void>;
}

/** Failures that are not forgiven yet, and when that was so. */
interface Level {
  failures: number;
  at: number;
}

interface State {
  all: Level;
  addresses: Record<string, Level>;
}

export function createLockout(settings: Settings, now: () => number) {
  const load = (): State => {
    const { all, addresses } = read(settings);
    const levels = Object.entries(addresses).map(
      ([name, level]) => [name, decayed(level, guessLimits.address)] as const,
    );
    const worst = levels.filter(([, { failures }]) => failures > 0).toSorted((a, b) => b[1].failures - a[1].failures);
    return { all: decayed(all, guessLimits.all), addresses: Object.fromEntries(worst.slice(0, maxAddresses)) };
  };
  // A clock that was set back forgives nothing and extends no lock: time counts from now on.
  const decayed = ({ failures, at }: Level, { forgiveMs }: { forgiveMs: number }): Level => ({
    failures: Math.max(0, failures - Math.max(0, now() - at) / forgiveMs),
    at: now(),
  });
  const waitOf = ({ failures }: Level, { burst, forgiveMs }: { burst: number; forgiveMs: number }): number =>
    Math.max(0, failures - (burst - 1)) * forgiveMs;
  const none = (): Level => ({ failures: 0, at: now() });

  return {
    /** Throws while locked. Counts the attempt as failed before it is tried: a crash during it forgives nothing. */
    begin: async (from: string): Promise<{ left: number }> => {
      const state = load();
      const address = peerOf(from);
      const own = state.addresses[address] ?? none();
      const ownWait = waitOf(own, guessLimits.address);
      const allWait = waitOf(state.all, guessLimits.all);
      if (ownWait > 0 || allWait > 0) {
        // Failures counted under a clock that was ahead would otherwise not be forgiven before it catches up.
        if (isAhead(read(settings), now())) await settings.put(key, JSON.stringify(state));
        throw lockedOut(Math.max(ownWait, allWait), allWait > ownWait);
      }
      own.failures++;
      state.all.failures++;
      state.addresses[address] = own;
      await settings.put(key, JSON.stringify(state));
      const left = Math.min(guessLimits.address.burst - own.failures, guessLimits.all.burst - state.all.failures);
      return { left: Math.max(0, Math.floor(left)) };
    },
    /** The attempt was right: it does not count, and its address is forgiven. */
    succeeded: async (from: string): Promise<void> => {
      const state = load();
      const { [peerOf(from)]: _own, ...addresses } = state.addresses;
      const all = { ...state.all, failures: Math.max(0, state.all.failures - 1) };
      const isClear = all.failures === 0 && Object.keys(addresses).length === 0;
      await settings.put(key, isClear ? null : JSON.stringify({ all, addresses } satisfies State));
    },
  };
}

function isAhead({ all, addresses }: State, now: number): boolean {
  return [all, ...Object.values(addresses)].some(({ at }) => at > now);
}

function lockedOut(waitMs: number, everywhere: boolean): Refusal {
  const seconds = Math.ceil(waitMs / 1000);
  const minutes = Math.ceil(seconds / 60);
  const time = seconds <= 90 ? `${seconds} seconds` : `${minutes} minutes`;
  const who = everywhere ? "Too many wrong passphrases from all addresses." : "Too many wrong passphrases.";
  return new Refusal("locked-out", `${who} Try again in ${time}.`, {
    hint: "On the daemon's machine, `holdfast dashboard` gives a login link immediately.",
    headers: { "Retry-After": String(seconds) },
  });
}

/** Earlier builds counted for all addresses together and kept a time until which they were locked out. */
function read(settings: Settings): State {
  const text = settings.get(key);
  const value = (text === null ? {} : JSON.parse(text)) as Partial<State> & { failures?: number };
  const before = Math.min(value.failures ?? 0, guessLimits.all.burst);
  return { all: value.all ?? { failures: before, at: Infinity }, addresses: value.addresses ?? {} };
}
