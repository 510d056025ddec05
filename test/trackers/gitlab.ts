/**
 * A fake GitLab (`/api/v4`) with one project and its forks, after the published API: PRIVATE-TOKEN, projects by
 * id or by encoded path, `x-next-page`, RateLimit headers and 429, ETag and 304, 404 for hidden objects, and a
 * redirect for a renamed project.
 */
import type { ServedRequest, Misbehaviour, Reply } from "./loopback.ts";
import { pageOf } from "./loopback.ts";
import { CodeHostLoopback, isRefused, opinions, shaOf, type ModelCheck, type ModelPullRequest } from "./code-host.ts";

const projectId = 278;
/** For users who are not members of the project. */
const strangerId = 999;
const notFound: Reply = { status: 404, body: { message: "404 Project Not Found" } };

export class GitlabLoopback extends CodeHostLoopback {
  readonly #forks = new Map<string, number>();
  readonly #numbers = { issue: 0, "pull request": 0 };

  constructor(repo = "group/app") {
    super(repo);
  }

  protected answer(asked: ServedRequest): Reply {
    const given = asked.headers["private-token"];
    const bearer = /^Bearer (.+)$/.exec(asked.headers.authorization ?? "")?.[1];
    const token = given ?? bearer;
    if (token === undefined || (this.acceptedToken !== null && token !== this.acceptedToken)) {
      return { status: 401, body: { message: "401 Unauthorized" } };
    }
    if (!asked.path.startsWith("/api/v4/projects/")) return { status: 404, body: { error: "404 Not Found" } };
    const [project, ...rest] = asked.path.slice("/api/v4/projects/".length).split("/").map(decodeURIComponent);
    return this.#project(asked, project!, rest);
  }

  protected limitHeaders(): Record<string, string> {
    return {
      "ratelimit-limit": String(this.limit),
      "ratelimit-remaining": String(this.remaining),
      "ratelimit-observed": String(this.limit - this.remaining),
      "ratelimit-reset": String(Math.floor(Date.now() / 1000) + 60),
      "x-request-id": "01ABC",
    };
  }

  protected limitReply(what: Misbehaviour & { how: "limit" | "slow-down" }): Reply {
    const seconds = what.how === "limit" ? what.resetInSeconds : what.retryAfterSeconds;
    const headers = {
      "retry-after": String(seconds),
      "ratelimit-remaining": "0",
      "ratelimit-reset": String(Math.ceil(Date.now() / 1000) + seconds),
    };
    return { status: 429, headers, body: { message: "Retry later" } };
  }

  protected override nextNumber(of: "issue" | "pull request"): number {
    return ++this.#numbers[of];
  }

  #project(asked: ServedRequest, project: string, rest: string[]): Reply {
    if (this.hidden) return notFound;
    const fork = [...this.#forks].find(([path, id]) => path === project || String(id) === project)?.[0];
    if (fork !== undefined && rest.length === 0) return { status: 200, body: this.#describe(fork) };
    if (this.formerNames.includes(project)) {
      const query = asked.query.size === 0 ? "" : `?${asked.query.toString()}`;
      const location = `${this.url}/api/v4/projects/${[projectId, ...rest].join("/")}${query}`;
      return { status: 302, headers: { location }, body: "This resource has been moved" };
    }
    const own = project === String(projectId) || project.toLowerCase() === this.repo.toLowerCase();
    if (!own && fork === undefined) return notFound;
    const key = `${asked.method} ${rest.map((part, index) => (index === 1 ? "#" : part)).join("/")}`;
    const one = this.pullRequestsByNumber.get(Number(rest[1]));
    const missing: Reply = { status: 404, body: { message: "404 Not found" } };
    if (asked.method === "GET" && rest[0] === "members" && rest[1] === "all") {
      const id = Number(rest[2]);
      return id === strangerId ? missing : { status: 200, body: { id, access_level: 30 } };
    }
    switch (key) {
      case "GET ":
        return { status: 200, body: this.#describe(this.repo) };
      case "GET merge_requests":
        return this.#mergeRequests(asked);
      case "GET merge_requests/#":
        return one === undefined ? missing : { status: 200, body: this.#detail(one) };
      case "GET merge_requests/#/approvals":
        return one === undefined ? missing : { status: 200, body: this.#approvals(one) };
      case "GET merge_requests/#/reviewers":
        return one === undefined ? missing : { status: 200, body: reviewers(one) };
      case "GET merge_requests/#/discussions":
        return one === undefined ? missing : this.#page(asked, discussions(one), 20);
      case "PUT merge_requests/#/merge":
        return one === undefined ? missing : this.#mergeAsked(asked, one);
      case "GET pipelines/#/jobs": {
        const owner = [...this.pullRequestsByNumber.values()].find((found) => pipelineId(found) === Number(rest[1]));
        if (owner === undefined) return missing;
        return this.#page(
          asked,
          owner.checks.filter((check) => !check.status).map((check) => this.#job(owner, check)),
          20,
        );
      }
      case "GET jobs/#/trace": {
        const checks = [...this.pullRequestsByNumber.values()].flatMap((found) => found.checks);
        const check = checks.find((found) => found.id === Number(rest[1]));
        return check === undefined ? missing : { status: 200, body: trace(check) };
      }
      case "GET issues":
        return this.#issues(asked);
      case "GET issues/#": {
        const issue = this.issuesByNumber.get(Number(rest[1]));
        return issue === undefined ? missing : { status: 200, body: this.#issue(issue.number) };
      }
      default:
        return { status: 404, body: { error: "404 Not Found" } };
    }
  }

  #describe(path: string): Record<string, unknown> {
    return {
      id: this.#idOf(path),
      name: path.split("/").at(-1),
      path_with_namespace: path,
      web_url: `${this.url}/${path}`,
      default_branch: "main",
      merge_method: "merge",
    };
  }

  /** Forks get ids as they appear. */
  #idOf(path: string): number {
    if (path === this.repo) return projectId;
    if (!this.#forks.has(path)) this.#forks.set(path, 1000 + this.#forks.size);
    return this.#forks.get(path)!;
  }

  #page(asked: ServedRequest, all: readonly unknown[], usual: number): Reply {
    const { items, page, perPage, pages } = pageOf(all, asked.query, usual);
    return {
      status: 200,
      body: items,
      headers: {
        "x-page": String(page),
        "x-per-page": String(perPage),
        "x-next-page": page < pages ? String(page + 1) : "",
        "x-prev-page": page > 1 ? String(page - 1) : "",
        "x-total": String(all.length),
        "x-total-pages": String(pages),
      },
    };
  }

  #mergeRequests(asked: ServedRequest): Reply {
    const state = asked.query.get("state") ?? "all";
    const branch = asked.query.get("source_branch");
    const iids = asked.query.getAll("iids[]").map(Number);
    const wanted = [...this.pullRequestsByNumber.values()]
      .filter((one) => branch === null || one.branch === branch)
      .filter((one) => iids.length === 0 || iids.includes(one.number))
      .filter((one) => state === "all" || stateOf(one) === state)
      .toSorted((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime());
    return this.#page(
      asked,
      wanted.map((one) => this.#summary(one)),
      20,
    );
  }

  #summary(one: ModelPullRequest): Record<string, unknown> {
    return {
      id: 5000 + one.number,
      iid: one.number,
      project_id: projectId,
      title: one.draft ? `Draft: ${one.title}` : one.title,
      description: one.body,
      state: stateOf(one),
      draft: one.draft,
      source_branch: one.branch,
      target_branch: one.base,
      source_project_id: one.repo === null ? null : this.#idOf(one.repo),
      target_project_id: projectId,
      sha: one.sha,
      merge_commit_sha: one.mergeCommit,
      squash_commit_sha: null,
      has_conflicts: one.conflict === true,
      merge_status: one.conflict === null ? "checking" : one.conflict ? "cannot_be_merged" : "can_be_merged",
      detailed_merge_status: this.#mergeStatus(one),
      blocking_discussions_resolved: one.threads.every((thread) => thread.resolved),
      author: { id: 2, username: "author", name: "Author" },
      reviewers: one.reviews.map((review) => ({ id: review.id, username: review.author, name: review.author })),
      references: { short: `!${one.number}`, relative: `!${one.number}`, full: `${this.repo}!${one.number}` },
      web_url: `${this.url}/${this.repo}/-/merge_requests/${one.number}`,
      created_at: one.createdAt.toISOString(),
      updated_at: one.updatedAt.toISOString(),
      merged_at: one.state === "merged" ? one.updatedAt.toISOString() : null,
    };
  }

  #detail(one: ModelPullRequest): Record<string, unknown> {
    const pipeline =
      one.checks.length === 0
        ? null
        : {
            id: pipelineId(one),
            iid: 1,
            project_id: one.repo === null ? projectId : this.#idOf(one.repo),
            sha: one.sha,
            ref: one.branch,
            status: pipelineStatus(one.checks),
            source: "merge_request_event",
            web_url: `${this.url}/${one.repo ?? this.repo}/-/pipelines/${pipelineId(one)}`,
          };
    return { ...this.#summary(one), head_pipeline: pipeline, diff_refs: { head_sha: one.sha }, merge_error: null };
  }

  #mergeStatus(one: ModelPullRequest): string {
    if (one.state !== "open") return "not_open";
    if (one.conflict === null) return "checking";
    if (one.conflict) return "conflict";
    if (one.draft) return "draft_status";
    if (isRefused(one)) return "requested_changes";
    if (this.reviewRequired && !opinions(one).some((review) => review.state === "approved")) return "not_approved";
    return "mergeable";
  }

  #approvals(one: ModelPullRequest): Record<string, unknown> {
    const approved = opinions(one).filter((review) => review.state === "approved" && review.writer);
    const required = this.reviewRequired ? 1 : 0;
    return {
      iid: one.number,
      approved: approved.length >= required,
      approvals_required: required,
      approvals_left: Math.max(0, required - approved.length),
      approved_by: approved.map((review) => ({ user: { id: review.id, username: review.author } })),
    };
  }

  #job(one: ModelPullRequest, check: ModelCheck): Record<string, unknown> {
    return {
      id: check.id,
      name: check.name,
      stage: "test",
      status: { pending: "running", passed: "success", failed: "failed", skipped: "skipped" }[check.state],
      allow_failure: false,
      ref: one.branch,
      web_url: `${this.url}/${one.repo ?? this.repo}/-/jobs/${check.id}`,
      pipeline: { id: pipelineId(one), status: pipelineStatus(one.checks) },
    };
  }

  #mergeAsked(asked: ServedRequest, one: ModelPullRequest): Reply {
    const { sha } = JSON.parse(asked.body || "{}") as { sha?: string };
    if (sha !== undefined && sha !== one.sha) {
      return { status: 409, body: { message: `SHA does not match HEAD of source branch: ${one.sha}` } };
    }
    if (this.#mergeStatus(one) !== "mergeable") return { status: 405, body: { message: "405 Method Not Allowed" } };
    this.merge(one.number, this.onMerge?.(one) ?? shaOf(`merge ${one.number}`));
    return { status: 200, body: this.#detail(one) };
  }

  #issues(asked: ServedRequest): Reply {
    const iids = asked.query.getAll("iids[]").map(Number);
    const wanted = [...this.issuesByNumber.values()]
      .filter((one) => iids.length === 0 || iids.includes(one.number))
      .toSorted((a, b) => b.updatedAt.getTime() - a.updatedAt.getTime());
    return this.#page(
      asked,
      wanted.map((one) => this.#issue(one.number)),
      20,
    );
  }

  #issue(number: number): Record<string, unknown> {
    const one = this.issuesByNumber.get(number)!;
    return {
      id: 8000 + number,
      iid: number,
      project_id: projectId,
      title: one.title,
      description: one.body,
      state: one.state === "open" ? "opened" : "closed",
      labels: one.labels,
      author: { id: 2, username: "author" },
      references: { short: `#${number}`, full: `${this.repo}#${number}` },
      web_url: `${this.url}/${this.repo}/-/issues/${number}`,
      created_at: one.createdAt.toISOString(),
      updated_at: one.updatedAt.toISOString(),
    };
  }
}

function stateOf(one: ModelPullRequest): string {
  return one.state === "open" ? "opened" : one.state;
}

function pipelineId(one: ModelPullRequest): number {
  return 60_000 + one.number;
}

function pipelineStatus(checks: ModelCheck[]): string {
  if (checks.some((check) => check.state === "failed")) return "failed";
  return checks.some((check) => check.state === "pending") ? "running" : "success";
}

function reviewers(one: ModelPullRequest): Record<string, unknown>[] {
  const latest = new Map(one.reviews.map((review) => [review.author, review]));
  return [...latest.values()].map((review) => ({
    user: { id: review.id, username: review.author },
    state: {
      approved: "approved",
      changes_requested: "requested_changes",
      commented: "reviewed",
      dismissed: "unreviewed",
    }[review.state],
    created_at: one.updatedAt.toISOString(),
  }));
}

function discussions(one: ModelPullRequest): Record<string, unknown>[] {
  const system = {
    id: 1,
    body: "added 1 commit",
    author: { id: 3, username: "author" },
    system: true,
    resolvable: false,
  };
  return [
    { id: "d0", individual_note: true, notes: [system] },
    ...one.threads.map((thread) => ({
      id: `d${thread.id}`,
      individual_note: false,
      notes: thread.comments.map((comment) => ({
        id: comment.id,
        type: thread.path === null ? "DiscussionNote" : "DiffNote",
        body: comment.body,
        author: { id: comment.writer === false ? strangerId : 3, username: comment.author },
        system: false,
        resolvable: true,
        resolved: thread.resolved,
        ...(thread.path === null
          ? {}
          : {
              position: {
                position_type: "text",
                new_path: thread.path,
                old_path: thread.path,
                new_line: thread.line,
                old_line: null,
              },
            }),
      })),
    })),
  ];
}

/** In a runner's format: sections, colors, carriage returns. */
function trace(check: ModelCheck): string {
  const lines = check.log.split("\n").map((line) => `\u001B[0;m${line}`);
  return `section_start:1700000000:step_script\r\u001B[0K${lines.join("\n")}\nsection_end:1700000001:step_script\r\u001B[0K\n`;
}
