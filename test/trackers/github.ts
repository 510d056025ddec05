/**
 * A fake GitHub (Enterprise layout: `/api/v3`, `/api/graphql`) with one repository and its forks, after the published
 * schemas: ETag and 304, Link headers, rate-limit headers and both kinds of limit, 404 for hidden objects,
 * 301 for a renamed repository, GraphQL errors under status 200.
 */
import type { ServedRequest, Misbehaviour, Reply } from "./loopback.ts";
import { pageOf } from "./loopback.ts";
import { CodeHostLoopback, isApproved, isRefused, shaOf, type ModelIssue, type ModelPullRequest } from "./code-host.ts";
import { githubGraphql } from "./github-graphql.ts";
import { execute } from "./graphql.ts";

const docs = "https://docs.github.com/rest";
const repositoryId = 4711;
export { shaOf };

export class GithubLoopback extends CodeHostLoopback {
  /** Numbers whose lookup by GraphQL fails while the others of the same query are answered. */
  readonly brokenNumbers = new Set<number>();
  /** Where job logs are redirected to: another host, which must not see the token. */
  logHost: string | null = null;
  allowedMerges = { merge: true, squash: true, rebase: true };

  protected answer(asked: ServedRequest): Reply {
    if (asked.path.startsWith("/logs/")) return this.#log(Number(asked.path.slice("/logs/".length)));
    const token = /^(?:token|bearer) (.+)$/i.exec(asked.headers.authorization ?? "")?.[1];
    if (token === undefined || (this.acceptedToken !== null && token !== this.acceptedToken)) {
      return { status: 401, body: { message: "Bad credentials", documentation_url: docs, status: "401" } };
    }
    if (asked.headers["user-agent"] === undefined) return { status: 403, body: "Request forbidden by rules" };
    if (asked.path === "/api/graphql") return { status: 200, body: execute(asked.body, githubGraphql(this)) };
    if (!asked.path.startsWith("/api/v3/")) return notFound;
    return this.#rest(asked, asked.path.slice("/api/v3".length).split("/").map(decodeURIComponent).slice(1));
  }

  protected limitHeaders(): Record<string, string> {
    return {
      "x-ratelimit-limit": String(this.limit),
      "x-ratelimit-remaining": String(this.remaining),
      "x-ratelimit-used": String(this.limit - this.remaining),
      "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 3600),
      "x-github-request-id": "0000:1111:2222",
    };
  }

  protected limitReply(what: Misbehaviour & { how: "limit" | "slow-down" }): Reply {
    if (what.how === "slow-down") {
      const message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
      const headers = { "retry-after": String(what.retryAfterSeconds) };
      return { status: 403, headers, body: { message, documentation_url: docs } };
    }
    const headers = {
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + what.resetInSeconds),
    };
    return {
      status: 403,
      headers,
      body: { message: "API rate limit exceeded for user ID 1.", documentation_url: docs },
    };
  }

  #rest(asked: ServedRequest, parts: string[]): Reply {
    if (this.hidden) return notFound;
    let rest: string[];
    if (parts[0] === "repositories" && Number(parts[1]) === repositoryId) rest = parts.slice(2);
    else if (parts[0] === "repos") {
      const name = `${parts[1]}/${parts[2]}`;
      rest = parts.slice(3);
      if (this.formerNames.includes(name)) return this.#moved(asked, rest);
      if (name.toLowerCase() !== this.repo.toLowerCase()) return notFound;
    } else return notFound;
    const number = Number(rest[1]);
    const key = `${asked.method} ${rest.map((part, index) => (index === 1 ? "#" : part)).join("/")}`;
    switch (key) {
      case "GET ":
        return { status: 200, body: this.#repository() };
      case "GET pulls":
        return this.#list(asked, this.#byUpdate([...this.pullRequestsByNumber.values()]), (one) => this.#pull(one));
      case "GET issues":
        return this.#list(asked, this.#byUpdate(this.#allIssues()), (one) => one);
      case "GET pulls/#": {
        const one = this.pullRequestsByNumber.get(number);
        return one === undefined ? notFound : { status: 200, body: this.#pull(one) };
      }
      case "GET issues/#": {
        const one = this.#allIssues().find((found) => found["number"] === number);
        return one === undefined ? notFound : { status: 200, body: one };
      }
      case "PUT pulls/#/merge":
        return this.#mergeAsked(asked, number);
      case "GET commits/#/check-runs":
        return this.#checkRuns(rest[1]!, asked.query.get("check_name"));
      default:
        return /^GET actions\/#\/\d+\/logs$/.test(key) ? this.#logPlace(Number(rest[2])) : notFound;
    }
  }

  #moved(asked: ServedRequest, rest: string[]): Reply {
    const query = asked.query.size === 0 ? "" : `?${asked.query.toString()}`;
    const location = `${this.url}/api/v3/repositories/${[repositoryId, ...rest].join("/")}${query}`;
    const body = { message: "Moved Permanently", url: location, documentation_url: docs };
    return { status: asked.method === "GET" ? 301 : 307, headers: { location }, body };
  }

  #byUpdate<T extends { updatedAt?: Date; updated_at?: string }>(all: T[]): T[] {
    const at = (one: T): number => one.updatedAt?.getTime() ?? Date.parse(one.updated_at ?? "");
    return all.toSorted((a, b) => at(b) - at(a));
  }

  #list<T>(asked: ServedRequest, all: T[], show: (one: T) => unknown): Reply {
    const state = asked.query.get("state") ?? "open";
    const wanted = all.filter((one) => {
      const is = (one as { state: string }).state === "open" ? "open" : "closed";
      return state === "all" || state === is;
    });
    const { items, page, pages } = pageOf(wanted, asked.query);
    const to = (target: number, rel: string): string => {
      const query = new URLSearchParams(asked.query);
      query.set("page", String(target));
      return `<${this.url}${asked.path}?${query.toString()}>; rel="${rel}"`;
    };
    const links = [];
    if (page < pages) links.push(to(page + 1, "next"), to(pages, "last"));
    if (page > 1) links.push(to(1, "first"), to(page - 1, "prev"));
    return {
      status: 200,
      body: items.map(show),
      ...(links.length === 0 ? {} : { headers: { link: links.join(", ") } }),
    };
  }

  #repository(): Record<string, unknown> {
    const [owner, name] = this.repo.split("/");
    return {
      id: repositoryId,
      name,
      full_name: this.repo,
      owner: { login: owner, id: 1, type: "User" },
      private: true,
      html_url: `${this.url}/${this.repo}`,
      default_branch: "main",
      allow_squash_merge: this.allowedMerges.squash,
      allow_merge_commit: this.allowedMerges.merge,
      allow_rebase_merge: this.allowedMerges.rebase,
    };
  }

  /** Over REST every pull request is an issue too. */
  #allIssues(): Record<string, unknown>[] {
    const issue = (one: ModelIssue | ModelPullRequest, pull: boolean): Record<string, unknown> => ({
      id: 90_000 + one.number,
      number: one.number,
      title: one.title,
      body: one.body,
      state: one.state === "open" ? "open" : "closed",
      state_reason: one.state === "open" ? null : "completed",
      labels: ("labels" in one ? one.labels : []).map((name, id) => ({ id, name, color: "ededed", default: false })),
      user: { login: "author", id: 2, type: "User" },
      html_url: `${this.url}/${this.repo}/${pull ? "pull" : "issues"}/${one.number}`,
      created_at: stamp(one.createdAt),
      updated_at: stamp(one.updatedAt),
      ...(pull ? { pull_request: { url: `${this.url}/api/v3/repos/${this.repo}/pulls/${one.number}` } } : {}),
    });
    return [
      ...[...this.issuesByNumber.values()].map((one) => issue(one, false)),
      ...[...this.pullRequestsByNumber.values()].map((one) => issue(one, true)),
    ];
  }

  #pull(one: ModelPullRequest): Record<string, unknown> {
    return {
      id: 70_000 + one.number,
      number: one.number,
      state: one.state === "open" ? "open" : "closed",
      title: one.title,
      body: one.body,
      draft: one.draft,
      html_url: `${this.url}/${this.repo}/pull/${one.number}`,
      user: { login: "author", id: 2, type: "User" },
      created_at: stamp(one.createdAt),
      updated_at: stamp(one.updatedAt),
      merged_at: one.state === "merged" ? stamp(one.updatedAt) : null,
      merge_commit_sha: one.mergeCommit,
      head: {
        label: `${one.repo?.split("/")[0] ?? "unknown"}:${one.branch}`,
        ref: one.branch,
        sha: one.sha,
        repo: one.repo === null ? null : { full_name: one.repo },
      },
      base: { label: `${this.repo.split("/")[0]}:${one.base}`, ref: one.base, repo: { full_name: this.repo } },
    };
  }

  #mergeAsked(asked: ServedRequest, number: number): Reply {
    const one = this.pullRequestsByNumber.get(number);
    if (one === undefined) return notFound;
    const { sha, merge_method: method = "merge" } = JSON.parse(asked.body || "{}") as Record<string, string>;
    const refuse = (status: number, message: string): Reply => ({ status, body: { message, documentation_url: docs } });
    if (sha !== undefined && sha !== one.sha) {
      return refuse(409, "Head branch was modified. Review and try the merge again.");
    }
    if (!this.allowedMerges[method as "merge" | "squash" | "rebase"]) {
      return refuse(405, `${method} merges are not allowed on this repository.`);
    }
    const blocked = this.reviewRequired && !isApproved(one);
    if (one.state !== "open" || one.draft || one.conflict !== false || isRefused(one) || blocked) {
      return refuse(405, "Pull Request is not mergeable");
    }
    const commit = this.onMerge?.(one) ?? shaOf(`merge ${number}`);
    this.merge(number, commit);
    return { status: 200, body: { sha: commit, merged: true, message: "Pull Request successfully merged" } };
  }

  #checkRuns(sha: string, name: string | null): Reply {
    const one = [...this.pullRequestsByNumber.values()].find((found) => found.sha === sha);
    const runs = (one?.checks ?? [])
      .filter((check) => !check.status && (name === null || check.name === name))
      .map((check) => ({
        id: check.id,
        name: check.name,
        head_sha: sha,
        status: check.state === "pending" ? "in_progress" : "completed",
        conclusion: check.state === "pending" ? null : check.state === "passed" ? "success" : "failure",
        html_url: `${this.url}/${this.repo}/runs/${check.id}`,
        details_url: `${this.url}/${this.repo}/actions/runs/1/job/${check.id}`,
        output: { title: null, summary: null, text: null },
        app: { id: 15_368, slug: "github-actions" },
      }));
    return { status: 200, body: { total_count: runs.length, check_runs: runs } };
  }

  /** `GET /repos/o/r/actions/jobs/ID/logs`: the log itself is elsewhere, under a URL that works for a minute. */
  #logPlace(id: number): Reply {
    if (this.#findCheck(id) === undefined) return notFound;
    return { status: 302, headers: { location: `${this.logHost ?? this.url}/logs/${id}` }, body: "" };
  }

  #log(id: number): Reply {
    const check = this.#findCheck(id);
    if (check === undefined) return { status: 404, body: "The specified blob does not exist." };
    const lines = check.log.split("\n").map((line) => `2026-01-02T03:04:05.6789012Z ${line}`);
    return { status: 200, body: `\u{FEFF}${lines.join("\n")}\n` };
  }

  #findCheck(id: number) {
    return [...this.pullRequestsByNumber.values()].flatMap((one) => one.checks).find((check) => check.id === id);
  }
}

const notFound: Reply = { status: 404, body: { message: "Not Found", documentation_url: docs, status: "404" } };

function stamp(at: Date): string {
  return at.toISOString().replace(".000Z", "Z");
}
