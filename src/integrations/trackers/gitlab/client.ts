/** GitLab's REST API: encoded project paths, pages by `x-next-page`. */
import * as z from "zod/mini";
import type { TrackerSettings } from "../../../ports/tracker.ts";
import type { Account } from "../account.ts";
import { jsonIn, shaped } from "../result.ts";
import { type TrackerHttp, type HttpResponse, type ReadLimit, Unanswered } from "../http.ts";

type Query = Record<string, string | number | readonly number[]>;

/** Five hundred merge requests or jobs; more are ignored. */
const maxPages = 5;

export class GitlabClient {
  readonly http: TrackerHttp;
  readonly webUrl: string;
  readonly #account: Account;

  constructor(settings: TrackerSettings, account: Account, http: TrackerHttp) {
    this.#account = account;
    this.http = http;
    this.webUrl = (settings.baseUrl ?? "https://gitlab.com").replace(/\/+$/, "").replace(/\/api\/v4$/, "");
  }

  /** Null: it does not exist, or the token cannot access it. */
  async get(project: string | number, path: string, query: Query = {}): Promise<unknown> {
    const answer = await this.#send("GET", project, path, query);
    return answer === null ? null : this.#json(answer);
  }

  /** `isComplete`: there are no more pages. */
  async list(
    project: string | number,
    path: string,
    query: Query,
    pages = maxPages,
  ): Promise<{ items: unknown[]; isComplete: boolean } | null> {
    const items: unknown[] = [];
    let page = "1";
    for (let count = 0; count < pages; count++) {
      const answer = await this.#send("GET", project, path, { ...query, per_page: 100, page });
      if (answer === null) return null;
      items.push(...shaped(z.array(z.unknown()), this.#json(answer), "GitLab"));
      page = answer.headers.get("x-next-page") ?? "";
      if (!/^\d+$/.test(page)) return { items, isComplete: true };
    }
    return { items, isComplete: false };
  }

  async put(project: string | number, path: string, body: unknown): Promise<{ status: number; message: string }> {
    const answer = await this.#http("PUT", project, path, {}, JSON.stringify(body));
    return { status: answer.status, message: this.#messageIn(answer.text) };
  }

  async tail(project: string, path: string, tailBytes: number): Promise<string | null> {
    const answer = await this.#send("GET", project, path, {}, tailBytes);
    return answer?.text ?? null;
  }

  async #send(
    method: string,
    project: string | number,
    path: string,
    query: Query,
    tailBytes?: number,
  ): Promise<HttpResponse | null> {
    const answer = await this.#http(method, project, path, query, undefined, tailBytes);
    if (answer.status === 404) return null;
    if (answer.status === 200) return answer;
    throw new Unanswered(`GitLab returned status ${answer.status}: ${this.#messageIn(answer.text)}.`);
  }

  async #http(
    method: string,
    project: string | number,
    path: string,
    query: Query,
    body?: string,
    tailBytes?: number,
  ): Promise<HttpResponse> {
    const token = await this.#account.token();
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const one of Array.isArray(value) ? value : [value]) search.append(name, String(one));
    }
    const where = `${this.webUrl}/api/v4/projects/${encodeURIComponent(String(project))}${path}`;
    return await this.http.send({
      method,
      url: search.size === 0 ? where : `${where}?${search.toString()}`,
      headers: {
        "private-token": token,
        accept: "application/json",
        "user-agent": "holdfast",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      resource: "api",
      ...(body === undefined ? {} : { body }),
      ...(tailBytes === undefined ? {} : { tailBytes }),
    });
  }

  #json(answer: HttpResponse): unknown {
    try {
      return JSON.parse(answer.text);
    } catch {
      throw new Unanswered("GitLab answered in a form that is not understood.");
    }
  }

  #messageIn(text: string): string {
    const { message, error } = (jsonIn(text) ?? {}) as { message?: unknown; error?: unknown };
    const reason = [message, error].find((one) => typeof one === "string");
    return reason === undefined ? "no reason given" : this.http.sentence(reason);
  }
}

export const readGitlabLimit: ReadLimit = (answer, now) => {
  if (answer.status !== 429) return null;
  const retryAfter = Number(answer.headers.get("retry-after") ?? Number.NaN);
  const reset = Number(answer.headers.get("ratelimit-reset") ?? Number.NaN);
  const until = Number.isFinite(retryAfter)
    ? now + retryAfter * 1000
    : Number.isFinite(reset)
      ? reset * 1000
      : now + 60_000;
  return { until, resource: null, why: "GitLab's rate limit for this token is used up." };
};
