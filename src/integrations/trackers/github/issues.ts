/** One issue is a conditional REST request; many are one conditional request and at most one query per hundred. */
import * as z from "zod/mini";
import type { TrackerResult } from "../../../ports/tracker.ts";
import type { IssueFacts } from "../../../contract/tracker.ts";
import { absent, resultOf, count, known, shaped, time, webAddress } from "../result.ts";
import { Unanswered } from "../http.ts";
import { settledAgeMs } from "../memory.ts";
import { plain, prose } from "../text.ts";
import type { GithubClient } from "./client.ts";
import { isMissing, recentFirst, repositoryOf } from "./pull-requests.ts";

const issuesPerQuery = 100;
const maxRemembered = 5000;

export class GithubIssues {
  readonly #client: GithubClient;
  readonly #repo: string;
  /** Results by number, with the time of the update. */
  readonly #memory = new Map<number, { answer: TrackerResult<IssueFacts>; updatedAt: number; askedAt: number }>();
  #newestSeen = 0;

  constructor(client: GithubClient, repo: string) {
    this.#client = client;
    this.#repo = repo;
  }

  async one(from: string, number: number): Promise<TrackerResult<IssueFacts>> {
    const [owner, repo] = from.split("/");
    const route = "GET /repos/{owner}/{repo}/issues/{number}";
    // 410: it was deleted.
    const data = await this.#client.get(route, { owner, repo, number }, "show the issue", [404, 410]);
    if (data === null) return absent;
    const node = shaped(overRest, data, "GitHub");
    const labels = node.labels.map((label) => (typeof label === "string" ? label : (label.name ?? "")));
    const facts = factsOf({ ...node, url: node.html_url, isOpen: node.state === "open", labels });
    return known(node.pull_request === undefined ? facts : { ...facts, isPullRequest: true });
  }

  async many(numbers: readonly number[]): Promise<Map<number, TrackerResult<IssueFacts>>> {
    const results = new Map<number, TrackerResult<IssueFacts>>();
    const pending = await this.#pending(numbers);
    if (pending === null) return results;
    for (const number of numbers) results.set(number, this.#memory.get(number)?.answer ?? absent);
    for (let at = 0; at < pending.length; at += issuesPerQuery) {
      await this.#query(pending.slice(at, at + issuesPerQuery), results);
    }
    return results;
  }

  /** Issues that changed according to the list of recent updates, or were never queried. Null: no repository. */
  async #pending(numbers: readonly number[]): Promise<number[] | null> {
    const [owner, repo] = this.#repo.split("/");
    // 410: issues are turned off.
    const route = "GET /repos/{owner}/{repo}/issues";
    const data = await this.#client.get(route, { owner, repo, ...recentFirst }, "list issues", [404, 410]);
    if (data === null) return null;
    const list = shaped(z.array(z.object({ number: count, updated_at: time })), data, "GitHub");
    const updated = new Map(list.map((one) => [one.number, Date.parse(one.updated_at)]));
    const before = this.#newestSeen;
    this.#newestSeen = Math.max(before, ...updated.values());
    const overflowed = list.length === recentFirst.per_page && before > 0 && Math.min(...updated.values()) > before;
    const { now } = this.#client.http.options.account;
    return numbers.filter((number) => {
      const remembered = this.#memory.get(number);
      if (remembered === undefined || overflowed) return true;
      if (now() - remembered.askedAt >= settledAgeMs) return true;
      return (updated.get(number) ?? 0) > remembered.updatedAt;
    });
  }

  /** Failures are not remembered. */
  async #query(numbers: readonly number[], results: Map<number, TrackerResult<IssueFacts>>): Promise<void> {
    const [owner, name] = this.#repo.split("/");
    const fields = numbers.map((number) => `i${number}: issueOrPullRequest(number: ${number}) { ...issue ...pull }`);
    const common = "number url title body updatedAt labels(first: 50) { nodes { name } }";
    const query = `query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
${fields.join("\n")} } }
fragment issue on Issue { ${common} issueState: state }
fragment pull on PullRequest { ${common} pullState: state }`;
    const answer = await this.#client.graphql(query, { owner, name });
    const repository = repositoryOf(answer);
    for (const number of numbers) {
      const error = answer.errors.find((one) => one.path[1] === `i${number}`);
      if (repository === null || (error !== undefined && isMissing(error))) {
        results.set(number, this.#remember(number, absent, 0));
        continue;
      }
      const read = async (): Promise<TrackerResult<IssueFacts>> => {
        if (error !== undefined) throw new Unanswered(`GitHub reports: ${error.message}.`);
        const node = shaped(overGraphql, repository[`i${number}`], "GitHub");
        const labels = node.labels?.nodes.map((label) => label.name) ?? [];
        const state = node.issueState ?? node.pullState;
        // Cleanup removes the work of closed issues: a missing state must not count as closed.
        if (state === undefined) throw new Unanswered("GitHub did not return the issue's state.");
        const facts = factsOf({ ...node, isOpen: state === "OPEN", labels });
        return this.#remember(number, known(facts), Date.parse(node.updatedAt));
      };
      results.set(number, await resultOf(read));
    }
  }

  #remember(number: number, answer: TrackerResult<IssueFacts>, updatedAt: number): TrackerResult<IssueFacts> {
    this.#memory.delete(number);
    this.#memory.set(number, { answer, updatedAt, askedAt: this.#client.http.options.account.now() });
    if (this.#memory.size > maxRemembered) this.#memory.delete(this.#memory.keys().next().value!);
    return answer;
  }
}

const overRest = z.object({
  number: count,
  html_url: webAddress,
  title: z.string(),
  body: z.nullable(z.string()),
  state: z.enum(["open", "closed"]),
  labels: z.array(z.union([z.string(), z.object({ name: z.nullish(z.string()) })])),
  /** REST returns pull requests as issues too. */
  pull_request: z.optional(z.unknown()),
});

/** Aliases, because the two states have different types. */
const overGraphql = z.object({
  number: count,
  url: webAddress,
  title: z.string(),
  body: z.string(),
  issueState: z.optional(z.enum(["OPEN", "CLOSED"])),
  pullState: z.optional(z.enum(["OPEN", "CLOSED", "MERGED"])),
  updatedAt: time,
  labels: z.nullable(z.object({ nodes: z.array(z.object({ name: z.string() })) })),
});

function factsOf(node: {
  number: number;
  url: string;
  title: string;
  body: string | null;
  isOpen: boolean;
  labels: string[];
}): IssueFacts {
  return {
    key: String(node.number),
    url: node.url,
    title: plain(node.title),
    body: prose(node.body ?? ""),
    state: node.isOpen ? "open" : "closed",
    labels: node.labels.map((label) => plain(label)).filter((label) => label !== ""),
  };
}
