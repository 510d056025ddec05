/**
 * The one way out to a tracker: deadline, bounded answers, conditional requests, limits and back-off, redaction, counts.
 * Whatever keeps a tracker from saying something becomes `Unanswered` with a sentence; other statuses are the
 * adapter's to read.
 */
import { plain } from "./text.ts";

/**
 * When an account may ask again. Shared by all trackers with the same host and token, since the host counts them
 * together. While it rests nothing is sent: asking on against a limit makes it longer.
 */

/** What is thrown inside adapters when the tracker did not say; it never leaves them. */
export class Unanswered extends Error {
  readonly retryAt: number | null;

  constructor(why: string, retryAt: number | null = null) {
    super(why);
    this.name = "Unanswered";
    this.retryAt = retryAt;
  }
}

const firstRestMs = 1000;
/** A host that is down is asked once a minute: soon enough to notice that it is back. */
const longestRestMs = 60_000;
/** A lying header must not silence a tracker for days; GitHub's window is an hour. */
const longestLimitMs = 65 * 60_000;

export class Limits {
  readonly #now: () => number;
  readonly #rests = new Map<string, { until: number; why: string }>();
  readonly #remaining = new Map<string, number>();
  #failures = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Throws while this resource, or everything, rests. */
  check(resource: string): void {
    for (const name of [resource, everything]) {
      const rest = this.#rests.get(name);
      if (rest === undefined) continue;
      if (rest.until > this.#now()) throw new Unanswered(rest.why, rest.until);
      this.#rests.delete(name);
    }
  }

  /** The host said how long; `resource` null stands for everything. */
  limited(resource: string | null, until: number, why: string): Unanswered {
    const bounded = Math.min(Math.max(until, this.#now() + firstRestMs), this.#now() + longestLimitMs);
    this.#rests.set(resource ?? everything, { until: bounded, why });
    return new Unanswered(why, bounded);
  }

  /** It did not answer, or not sensibly: each time in a row it rests twice as long. */
  failed(why: string): Unanswered {
    const rest = this.#rests.get(everything);
    // Several that were under way together are one failure.
    if (rest !== undefined && rest.until > this.#now()) return new Unanswered(why, rest.until);
    const until = this.#now() + Math.min(longestRestMs, firstRestMs * 2 ** this.#failures);
    this.#failures++;
    this.#rests.set(everything, { until, why });
    return new Unanswered(why, until);
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
    const ends = [...this.#rests.values()].map((rest) => rest.until).filter((until) => until > this.#now());
    return ends.length === 0 ? null : Math.max(...ends);
  }
}

const everything = "";

export interface LaneRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Which of the host's limits it counts against. */
  resource: string;
  /** Keeps only the end of a long text, which may then also lie on another host (without the token). */
  tailBytes?: number;
}

export interface LaneAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Answers over a limit, told apart from other refusals; null for other refusals. `resource` null: all of them. */
export type ReadLimit = (
  answer: LaneAnswer,
  now: number,
) => { until: number; resource: string | null; why: string } | null;

export interface LaneOptions {
  /** As sentences name it: `GitHub`. */
  name: string;
  limits: Limits;
  now: () => number;
  readLimit: ReadLimit;
  /** The header that tells what is left of the limit. */
  remainingHeader: string;
  /** What must never be in a sentence. */
  secret: () => string | null;
  /** The token was refused: look for it anew. */
  refused: () => void;
  deadlineMs?: number;
  maxBytes?: number;
}

const usualDeadlineMs = 10_000;
/** Fifty pull requests with all their checks are some hundred KiB. */
const usualMaxBytes = 8 * 1024 * 1024;
/** A job's log is read to its end for its last lines, but not for ever. */
const maxLogBytes = 64 * 1024 * 1024;
/** One entry a page of a list or an open merge request; old ones go first. */
const maxCached = 1000;
const maxCachedBytes = 32 * 1024 * 1024;

export class Lane {
  requests = 0;
  notModified = 0;
  readonly options: LaneOptions;
  readonly #closing = new AbortController();
  readonly #cache = new Map<string, { etag: string; answer: LaneAnswer }>();
  #cachedBytes = 0;

  constructor(options: LaneOptions) {
    this.options = options;
  }

  close(): void {
    this.#closing.abort();
  }

  async send(request: LaneRequest): Promise<LaneAnswer> {
    this.options.limits.check(request.resource);
    const answer = await this.#follow(request);
    this.options.limits.succeeded();
    return answer;
  }

  /** A renamed repository answers with a permanent redirect, a log with a temporary one: each is followed once. */
  async #follow(request: LaneRequest): Promise<LaneAnswer> {
    const conditional = request.method === "GET" && request.tailBytes === undefined;
    const cached = conditional ? this.#cache.get(request.url) : undefined;
    let { url } = request;
    let headers = cached === undefined ? request.headers : { ...request.headers, "if-none-match": cached.etag };
    const hops = new Set<string>();
    for (;;) {
      const answer = await this.#once({ ...request, url, headers });
      if (answer.status === 304 && cached !== undefined) {
        this.notModified++;
        // Used last is dropped last.
        this.#cache.delete(request.url);
        this.#cache.set(request.url, cached);
        return cached.answer;
      }
      const location = answer.headers.get("location");
      if (request.method !== "GET" || !isRedirect(answer.status) || location === null) {
        if (conditional) this.#remember(request.url, answer);
        return answer;
      }
      const next = new URL(location, url);
      const kind = answer.status === 301 || answer.status === 308 ? "permanent" : "temporary";
      if (hops.has(kind)) throw new Unanswered(`${this.options.name} redirects in a circle.`);
      hops.add(kind);
      if (next.origin !== new URL(url).origin) {
        if (request.tailBytes === undefined || !isWeb(next)) {
          throw new Unanswered(`${this.options.name} redirects to another host; the token is not sent there.`);
        }
        headers = { accept: "text/plain" };
      }
      url = next.href;
    }
  }

  async #once(request: LaneRequest): Promise<LaneAnswer> {
    const { name, limits, now } = this.options;
    const deadlineMs = this.options.deadlineMs ?? usualDeadlineMs;
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(deadlineMs)]);
    this.requests++;
    let answer: LaneAnswer;
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
      if (signal.aborted) throw limits.failed(`${name} did not answer within ${deadlineMs / 1000} s.`);
      throw limits.failed(`${name} cannot be reached: ${this.sentence(causeOf(error))}.`);
    }
    const remaining = Number(answer.headers.get(this.options.remainingHeader) ?? Number.NaN);
    if (Number.isInteger(remaining)) limits.noteRemaining(request.resource, remaining);
    const limit = answer.status >= 400 ? this.options.readLimit(answer, now()) : null;
    if (limit !== null) throw limits.limited(limit.resource, limit.until, limit.why);
    if (answer.status === 401) {
      this.options.refused();
      throw limits.failed(`${name} refuses the token.`);
    }
    if (answer.status >= 500) throw limits.failed(`${name} answers with status ${answer.status}.`);
    return answer;
  }

  /** With the secret taken out, should the tracker repeat it, and short. */
  sentence(text: string): string {
    const secret = this.options.secret();
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
        throw new Unanswered(`${this.options.name} answers with more than ${Math.round(most / 1024 / 1024)} MiB.`);
      }
      chunks.push(chunk);
      kept += chunk.length;
      while (kept - chunks[0]!.length >= (tailBytes ?? Infinity)) kept -= chunks.shift()!.length;
    }
    return Buffer.concat(chunks).toString("utf8");
  }

  #remember(url: string, answer: LaneAnswer): void {
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

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

function isWeb(url: URL): boolean {
  return url.protocol === "https:" || isLoopback(url);
}

export function isLoopback(url: URL): boolean {
  return url.protocol === "http:" && ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
}

/** fetch hides what happened in its cause: `fetch failed` tells nobody anything. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (cause instanceof Error) return (cause as NodeJS.ErrnoException).code ?? cause.message;
  return String(cause);
}
