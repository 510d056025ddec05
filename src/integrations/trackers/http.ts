/**
 * HTTP to a tracker: deadline, bounded responses, conditional requests, rate limits and backoff, redaction, counts.
 * Every failure becomes `Unanswered` with a sentence; the adapter reads other statuses.
 */
import type { Account } from "./account.ts";
import type { TrackerFailure } from "../../ports/tracker.ts";
import { plain } from "./text.ts";

/** Thrown inside adapters if the tracker gave no usable response; it never leaves them. */
export class Unanswered extends Error {
  readonly retryAt: number | null;
  readonly token: TrackerFailure["token"];

  constructor(why: string, retryAt: number | null = null, token?: TrackerFailure["token"]) {
    super(why);
    this.name = "Unanswered";
    this.retryAt = retryAt;
    this.token = token;
  }
}

const firstBackoffMs = 1000;
/** A host that is down is retried once per minute. */
const maxBackoffMs = 60_000;
/** A wrong header must not silence a tracker for days; GitHub's window is an hour. */
const maxLimitMs = 65 * 60_000;

/** Rate limits and backoff of one account, shared by all its trackers: the host counts them together. */
export class Limits {
  readonly #now: () => number;
  readonly #backoffs = new Map<string, { until: number } & TrackerFailure>();
  readonly #remaining = new Map<string, number>();
  #failures = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws while this resource, or the complete host, is rate-limited or backing off. */
  check(resource: string): void {
    for (const name of [resource, everything]) {
      const backoff = this.#backoffs.get(name);
      if (backoff === undefined) continue;
      if (backoff.until > this.#now()) throw new Unanswered(backoff.why, backoff.until, backoff.token);
      this.#backoffs.delete(name);
    }
  }

  /** The host reported a limit; `resource` null: all resources. */
  limited(resource: string | null, until: number, why: string): Unanswered {
    const bounded = Math.min(Math.max(until, this.#now() + firstBackoffMs), this.#now() + maxLimitMs);
    this.#backoffs.set(resource ?? everything, { until: bounded, why });
    return new Unanswered(why, bounded);
  }

  /** No usable response: the backoff doubles with each failure in a row. */
  failed(why: string, token?: TrackerFailure["token"]): Unanswered {
    const backoff = this.#backoffs.get(everything);
    // Concurrent failures count as one.
    if (backoff !== undefined && backoff.until > this.#now()) return new Unanswered(why, backoff.until, token);
    const until = this.#now() + Math.min(maxBackoffMs, firstBackoffMs * 2 ** this.#failures);
    this.#failures++;
    this.#backoffs.set(everything, { until, why, token });
    return new Unanswered(why, until, token);
  }

  succeeded(): void {
    this.#failures = 0;
  }

  noteRemaining(resource: string, remaining: number): void {
    this.#remaining.set(resource, remaining);
  }

  get remaining(): number | null {
    return this.#remaining.size === 0 ? null : Math.min(...this.#remaining.values());
  }

  get restsUntil(): number | null {
    const ends = [...this.#backoffs.values()].map(({ until }) => until).filter((until) => until > this.#now());
    return ends.length === 0 ? null : Math.max(...ends);
  }
}

const everything = "";

export interface HttpRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** The rate limit that it counts against. */
  resource: string;
  /** Keeps only the end of a long text. It may be on another host, which never gets the token. */
  tailBytes?: number;
}

export interface HttpResponse {
  status: number;
  headers: Headers;
  text: string;
}

/** Distinguishes rate limits from other refusals, for which it returns null. `resource` null: all resources. */
export type ReadLimit = (
  answer: HttpResponse,
  now: number,
) => { until: number; resource: string | null; why: string } | null;

export interface TrackerHttpOptions {
  /** Its name in sentences, such as GitHub. */
  name: string;
  account: Account;
  readLimit: ReadLimit;
  /** The header with the remaining requests. */
  remainingHeader: string;
  deadlineMs?: number;
  maxBytes?: number;
}

const usualDeadlineMs = 10_000;
/** Fifty pull requests with all their checks are some hundred KiB. */
const usualMaxBytes = 8 * 1024 * 1024;
/** A job's log is read to its end for its last lines, up to this size. */
const maxLogBytes = 64 * 1024 * 1024;
/** One entry per list page or open merge request; the oldest are dropped first. */
const maxCached = 1000;
const maxCachedBytes = 32 * 1024 * 1024;

export class TrackerHttp {
  requests = 0;
  notModified = 0;
  readonly options: TrackerHttpOptions;
  readonly #closing = new AbortController();
  readonly #cache = new Map<string, { etag: string; answer: HttpResponse }>();
  #cachedBytes = 0;

  constructor(options: TrackerHttpOptions) {
    this.options = options;
  }

  close(): void {
    this.#closing.abort();
  }

  async send(request: HttpRequest): Promise<HttpResponse> {
    this.options.account.limits.check(request.resource);
    const answer = await this.#follow(request);
    this.options.account.limits.succeeded();
    return answer;
  }

  /** A renamed repository redirects permanently, a log temporarily: each is followed once. */
  async #follow(request: HttpRequest): Promise<HttpResponse> {
    const conditional = request.method === "GET" && request.tailBytes === undefined;
    const cached = conditional ? this.#cache.get(request.url) : undefined;
    let { url } = request;
    let headers = cached === undefined ? request.headers : { ...request.headers, "if-none-match": cached.etag };
    const hops = new Set<string>();
    for (;;) {
      const answer = await this.#once({ ...request, url, headers });
      if (answer.status === 304 && cached !== undefined) {
        this.notModified++;
        // Keeps the map in order of use.
        this.#cache.delete(request.url);
        this.#cache.set(request.url, cached);
        return cached.answer;
      }
      const location = answer.headers.get("location");
      if (request.method !== "GET" || ![301, 302, 303, 307, 308].includes(answer.status) || location === null) {
        if (conditional) this.#remember(request.url, answer);
        return answer;
      }
      const next = new URL(location, url);
      const kind = answer.status === 301 || answer.status === 308 ? "permanent" : "temporary";
      if (hops.has(kind)) throw new Unanswered(`${this.options.name} has a redirect loop.`);
      hops.add(kind);
      if (next.origin !== new URL(url).origin) {
        if (request.tailBytes === undefined || (next.protocol !== "https:" && !isLoopback(next))) {
          throw new Unanswered(`${this.options.name} redirects to another host; the token is not sent there.`);
        }
        headers = { accept: "text/plain" };
      }
      url = next.href;
    }
  }

  async #once(request: HttpRequest): Promise<HttpResponse> {
    const { name, account } = this.options;
    const { limits, now } = account;
    const deadlineMs = this.options.deadlineMs ?? usualDeadlineMs;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(deadlineMs)]);
    this.requests++;
    let answer: HttpResponse;
    try {
      const response = await fetch(request.url, {
        method: request.method,
        headers: request.headers,
        redirect: "manual",
        signal,
        ...(request.body === undefined ? {} : { body: request.body }),
      });
      const text = await this.#read(response, request.tailBytes);
      answer = { status: response.status, headers: response.headers, text };
    } catch (error) {
      if (error instanceof Unanswered) throw error;
      if (this.#closing.signal.aborted) throw new Unanswered("The daemon is stopping.");
      if (signal.aborted) throw limits.failed(`${name} did not respond within ${deadlineMs / 1000} s.`);
      throw limits.failed(`Cannot reach ${name}: ${this.sentence(causeOf(error))}.`);
    }
    const remaining = Number(answer.headers.get(this.options.remainingHeader) ?? Number.NaN);
    if (Number.isInteger(remaining)) limits.noteRemaining(request.resource, remaining);
    const limit = answer.status >= 400 ? this.options.readLimit(answer, now()) : null;
    if (limit !== null) throw limits.limited(limit.resource, limit.until, limit.why);
    if (answer.status === 401) {
      account.forget();
      throw limits.failed(`${name} rejected the token.`, "refused");
    }
    if (answer.status >= 500) throw limits.failed(`${name} returned status ${answer.status}.`);
    return answer;
  }

  /** Short, and without the secret if the tracker repeats it. */
  sentence(text: string): string {
    const secret = this.options.account.secret;
    const clean = secret === null ? text : text.replaceAll(secret, "[token]");
    return plain(clean, 300).replace(/\.$/, "");
  }

  async #read(response: Response, tailBytes: number | undefined): Promise<string> {
    if (response.body === null) return "";
    const most = tailBytes === undefined ? (this.options.maxBytes ?? usualMaxBytes) : maxLogBytes;
    const chunks: Uint8Array[] = [];
    let all = 0;
    let kept = 0;
    for await (const chunk of response.body) {
      all += chunk.length;
      if (all > most) {
        throw new Unanswered(`${this.options.name} returned more than ${Math.round(most / 1024 / 1024)} MiB.`);
      }
      chunks.push(chunk);
      kept += chunk.length;
      while (kept - chunks[0]!.length >= (tailBytes ?? Infinity)) kept -= chunks.shift()!.length;
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  #remember(url: string, answer: HttpResponse): void {
    const old = this.#cache.get(url);
    if (old !== undefined) this.#cachedBytes -= old.answer.text.length;
    this.#cache.delete(url);
    const etag = answer.headers.get("etag");
    if (etag === null || answer.status !== 200) return;
    this.#cache.set(url, { etag, answer });
    this.#cachedBytes += answer.text.length;
    for (const [oldest, { answer: gone }] of this.#cache) {
      if (this.#cache.size <= maxCached && this.#cachedBytes <= maxCachedBytes) return;
      this.#cache.delete(oldest);
      this.#cachedBytes -= gone.text.length;
    }
  }
}

export function isLoopback(url: URL): boolean {
  return url.protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
}

/** fetch puts the reason in its cause; its own message is only "fetch failed". */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error) return (cause as NodeJS.ErrnoException).code ?? cause.message;
  return String(cause);
}
