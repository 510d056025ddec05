/**
 * Trackers by their settings. Nothing is loaded before the first query. Trackers with the same host and token share
 * their rate limits, because the host counts them together.
 */
import { lazy } from "../../base/lazy.ts";
import type { Run } from "../../base/run.ts";
import type {
  CodeHost,
  Tracker,
  TrackerFailure,
  TrackerResult,
  Trackers,
  TrackerSettings,
} from "../../ports/tracker.ts";
import type { Account } from "./account.ts";
import { trackers as registry } from "./registry.ts";
import type { Bounds, OpenedTracker } from "./result.ts";

export interface TrackersOptions {
  /** The daemon's own environment. */
  env: Readonly<Record<string, string | undefined>>;
  run: Run;
  /** The directory of the user's config.yaml. */
  configDir: string;
  now: () => number;
  bounds?: Bounds;
}

export function createTrackers(options: TrackersOptions): Trackers {
  const accounts = new Map<string, () => Promise<Account>>();
  const trackers = new Map<string, LazyTracker>();
  let closed = false;

  const account = (settings: TrackerSettings): Promise<Account> => {
    const { type, baseUrl, tokenEnv, isBound, tokenRefused } = settings;
    const name = JSON.stringify([type, baseUrl, tokenEnv, isBound, tokenRefused]);
    let found = accounts.get(name);
    if (found === undefined) {
      found = lazy(() => openAccount(settings, options));
      accounts.set(name, found);
    }
    return found();
  };

  return {
    for(settings) {
      const { type, repo, baseUrl, tokenEnv, isBound, tokenRefused } = settings;
      const name = JSON.stringify([type, repo, baseUrl, tokenEnv, isBound, tokenRefused]);
      let found = trackers.get(name);
      if (found === undefined) {
        found = new LazyTracker({ type, repo, baseUrl, tokenEnv }, async () => {
          const shared = await account(settings);
          const opened = await registry[settings.type].open(settings, shared, options.bounds ?? {});
          if (closed) opened.http.close();
          return { opened, account: shared };
        });
        trackers.set(name, found);
      }
      return found;
    },
    async close() {
      closed = true;
      for (const tracker of trackers.values()) tracker.close();
    },
  };
}

async function openAccount(settings: TrackerSettings, options: TrackersOptions): Promise<Account> {
  const { Account, findToken } = await import("./account.ts");
  return new Account(settings, options.now, async () => await findToken(settings, options));
}

interface Ready {
  opened: OpenedTracker;
  account: Account;
}

/** Keeps the last failure until the next success. */
class LazyTracker implements Tracker {
  readonly settings: TrackerSettings;
  readonly host: CodeHost | null;
  readonly #open: () => Promise<Ready>;
  #ready: Ready | null = null;
  #failure: TrackerFailure | null = null;

  constructor(settings: TrackerSettings, open: () => Promise<Ready>) {
    this.settings = settings;
    this.#open = lazy(async () => (this.#ready = await open()));
    this.host = registry[settings.type].hasCode ? this.#host() : null;
  }

  async issue(...given: Parameters<Tracker["issue"]>): ReturnType<Tracker["issue"]> {
    return this.#note(await (await this.#get()).issue(...given));
  }

  async issues(...given: Parameters<Tracker["issues"]>): ReturnType<Tracker["issues"]> {
    return this.#noteAll(await (await this.#get()).issues(...given));
  }

  budget(): ReturnType<Tracker["budget"]> {
    const { requests = 0, notModified = 0 } = this.#ready?.opened.http ?? {};
    const limits = this.#ready?.account.limits;
    const { remaining = null, restsUntil = null } = limits ?? {};
    return { requests, notModified, remaining, restsUntil, failure: this.#failure };
  }

  close(): void {
    // A tracker that is still opening is closed by `for`.
    this.#ready?.opened.http.close();
  }

  #host(): CodeHost {
    const host = async (): Promise<CodeHost> => (await this.#get()).host!;
    return {
      pullRequests: async (...given) => this.#noteAll(await (await host()).pullRequests(...given)),
      pullRequest: async (...given) => this.#note(await (await host()).pullRequest(...given)),
      logTail: async (...given) => this.#note(await (await host()).logTail(...given)),
      threads: async (...given) => this.#note(await (await host()).threads(...given)),
      merge: async (...given) => await (await host()).merge(...given),
    };
  }

  async #get(): Promise<OpenedTracker> {
    return (await this.#open()).opened;
  }

  #note<T>(answer: TrackerResult<T>): TrackerResult<T> {
    this.#failure = answer.is === "unknown" ? answer : null;
    return answer;
  }

  #noteAll<T>(answers: Map<string, TrackerResult<T>>): Map<string, TrackerResult<T>> {
    if (answers.size === 0) return answers;
    const failed = [...answers.values()].find((answer) => answer.is === "unknown");
    this.#failure = failed?.is === "unknown" ? failed : null;
    return answers;
  }
}
