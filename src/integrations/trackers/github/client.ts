/** The only file that uses Octokit. Its requests go through TrackerHttp. */
import type { Octokit } from "@octokit/core";
import type { TrackerSettings } from "../../../ports/tracker.ts";
import type { Account } from "../account.ts";
import { type TrackerHttp, type HttpResponse, type ReadLimit, Unanswered } from "../http.ts";

export interface GraphqlError {
  message: string;
  type: string | null;
  path: (string | number)[];
}

export interface GraphqlResponse {
  data: unknown;
  errors: GraphqlError[];
}

export class GithubClient {
  readonly http: TrackerHttp;
  /** Addresses of the API and of the website. */
  readonly apiUrl: string;
  readonly webOrigin: string;
  readonly #account: Account;
  readonly #fault: string | null;
  #octokit: { token: string; octokit: Octokit } | null = null;

  constructor(settings: TrackerSettings, account: Account, http: TrackerHttp) {
    this.#account = account;
    const isNamed = settings.repo.split("/").length === 2;
    this.#fault = isNamed ? null : `"${settings.repo}" is not a GitHub repository; use owner/name.`;
    this.http = http;
    this.apiUrl = apiUrlOf(settings.baseUrl);
    this.webOrigin = settings.baseUrl === null ? "https://github.com" : new URL(this.apiUrl).origin;
  }

  /** A status that TrackerHttp leaves to the adapter is a result, not an exception. */
  async rest(route: string, parameters: Record<string, unknown>): Promise<{ status: number; data: unknown }> {
    const octokit = await this.#client();
    try {
      return await octokit.request(route, parameters);
    } catch (error) {
      const response = (error as { response?: { status: number; data: unknown } }).response;
      if (response !== undefined) return { status: response.status, data: response.data };
      throw this.#unanswered(error);
    }
  }

  /** Null if its status is one of `gone`; any other failure is a sentence: GitHub does not `doing`. */
  async get(route: string, parameters: Record<string, unknown>, doing: string, gone = [404]): Promise<unknown> {
    const { status, data } = await this.rest(route, parameters);
    if (gone.includes(status)) return null;
    if (status === 200) return data;
    throw new Unanswered(`GitHub does not ${doing}: status ${status}, ${this.messageIn(data)}.`);
  }

  async graphql(query: string, variables: Record<string, unknown>): Promise<GraphqlResponse> {
    const octokit = await this.#client();
    try {
      return { data: await octokit.graphql(query, variables), errors: [] };
    } catch (error) {
      const failed = error as { data?: unknown; errors?: unknown; headers?: Record<string, string>; status?: number };
      if (!Array.isArray(failed.errors)) {
        if (failed.status === undefined || failed.status === 500) throw this.#unanswered(error);
        throw new Unanswered(`GitHub answers the query with status ${failed.status}.`);
      }
      const errors = failed.errors.map(readError);
      if (errors.some((one) => one.type === "RATE_LIMITED")) {
        const reset = Number(failed.headers?.["x-ratelimit-reset"]) * 1000 || this.#account.now() + 60_000;
        throw this.#account.limits.limited("graphql", reset, limitSentence);
      }
      return {
        data: failed.data ?? null,
        errors: errors.map((one) => ({ ...one, message: this.http.sentence(one.message) })),
      };
    }
  }

  /** A log is long, and stored on another host. */
  async tail(path: string, tailBytes: number): Promise<HttpResponse> {
    const token = await this.#account.token();
    const headers = { authorization: `token ${token}`, "user-agent": userAgent, accept: "application/vnd.github+json" };
    return await this.http.send({ method: "GET", url: `${this.apiUrl}${path}`, headers, resource: "core", tailBytes });
  }

  /** GitHub's reason for a refusal, as part of a sentence. */
  messageIn(data: unknown): string {
    const message = (data as { message?: unknown } | null)?.message;
    return typeof message === "string" && message !== "" ? this.http.sentence(message) : "no reason given";
  }

  async #client(): Promise<Octokit> {
    if (this.#fault !== null) throw new Unanswered(this.#fault);
    const token = await this.#account.token();
    if (this.#octokit?.token === token) return this.#octokit.octokit;
    const { Octokit } = await import("@octokit/core");
    const silent = { debug() {}, info() {}, warn() {}, error() {} };
    const octokit = new Octokit({
      auth: token,
      baseUrl: this.apiUrl,
      userAgent,
      log: silent,
      request: { fetch: async (url: string, init: RequestInit) => await this.#fetch(url, init), log: silent },
    });
    this.#octokit = { token, octokit };
    return octokit;
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const answer = await this.http.send({
      method: init.method ?? "GET",
      url,
      headers: { ...(init.headers as Record<string, string>) },
      resource: url.endsWith("/graphql") ? "graphql" : "core",
      ...(typeof init.body === "string" ? { body: init.body } : {}),
    });
    const isEmpty = answer.status === 204 || answer.status === 205 || answer.status === 304;
    return new Response(isEmpty ? null : answer.text, { status: answer.status, headers: answer.headers });
  }

  #unanswered(error: unknown): Unanswered {
    for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof Unanswered) return cause;
    return new Unanswered("GitHub answered in a form that is not understood.");
  }
}

/** Primary limit: nothing remains until the reset. Secondary: too many at once, wait as requested. */
export const readGithubLimit: ReadLimit = (answer, now) => {
  if (answer.status !== 403 && answer.status !== 429) return null;
  const retryAfter = Number(answer.headers.get("retry-after") ?? Number.NaN);
  if (Number.isFinite(retryAfter)) {
    return { until: now + retryAfter * 1000, resource: null, why: `GitHub asks to wait ${retryAfter} s.` };
  }
  if (answer.headers.get("x-ratelimit-remaining") === "0") {
    const until = Number(answer.headers.get("x-ratelimit-reset")) * 1000 || now + 60_000;
    return { until, resource: answer.headers.get("x-ratelimit-resource"), why: limitSentence };
  }
  return /rate limit/i.test(answer.text) ? { until: now + 60_000, resource: null, why: limitSentence } : null;
};

const limitSentence = "GitHub's rate limit for this token is used up.";
const userAgent = "holdfast";

function apiUrlOf(baseUrl: string | null): string {
  if (baseUrl === null) return "https://api.github.com";
  const plain = baseUrl.replace(/\/+$/, "");
  if (plain === "https://api.github.com" || plain === "https://github.com") return "https://api.github.com";
  return plain.endsWith("/api/v3") ? plain : `${plain}/api/v3`;
}

function readError(one: unknown): GraphqlError {
  const { message, type, path } = (one ?? {}) as { message?: unknown; type?: unknown; path?: unknown };
  return {
    message: typeof message === "string" ? message : "no reason given",
    type: typeof type === "string" ? type : null,
    path: Array.isArray(path) ? path.filter((part) => typeof part === "string" || typeof part === "number") : [],
  };
}
