/** One issue is a conditional REST request; many are one conditional request and at most one query per hundred. */
import * as z from "zod/mini";
import type { TrackerResult } from "../../../ports/tracker.ts";
import type { IssueFacts } from "../../../contract/tracker.ts";
import { absent, resultOf, count, known, failureOf, shaped, time, webAddress } from "../result.ts";
import { Unanswered } from "../http.ts";
import { settledAgeMs } from "../memory.ts";
import { readReference, sameRepo, plain, prose } from "../text.ts";
import type { GithubClient } from "./client.ts";
import { isMissing, repositoryOf } from "./pull-requests.ts";

const issuesPerQuery = 100;
const listLength = 100;
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

  async one(text: string): Promise<TrackerResult<IssueFacts>> {
    const reference = this.#read(text);
    if (reference === null) return absent;
    return await resultOf(async () => {
      const [owner, repo] = (reference.repo ?? this.#repo).split("/");
      const route = "GET /repos/{owner}/{repo}/issues/{number}";
      const { status, data } = await this.#client.rest(route, { owner, repo, number: reference.number });
      // 410: it was deleted.
      if (status === 404 || status === 410) return absent;
      if (status !== 200) {
        throw new Unanswered(`GitHub does not show the issue: status ${status}, ${this.#client.messageIn(data)}.`);
      }
      const node = shaped(overRest, data, "GitHub");
      const labels = node.labels.map((label) => (typeof label === "string" ? label : (label.name ?? "")));
      const facts = factsOf({ ...node, url: node.html_url, isOpen: node.state === "open", labels });
      return known(node.pull_request === undefined ? facts : { ...facts, isPullRequest: true });
    });
  }

  async many(references: readonly string[]): Promise<Map<string, TrackerResult<IssueFacts>>> {
    const answers = new Map<string, TrackerResult<IssueFacts>>();
    const wanted = new Map<number, string[]>();
    for (const text of references) {
      const reference = this.#read(text);
      if (reference === null) answers.set(text, absent);
      // Other repositories are rare: one request each.
      else if (reference.repo !== null && !sameRepo(reference.repo, this.#repo))
        answers.set(text, await this.one(text));
      else wanted.set(reference.number, [...(wanted.get(reference.number) ?? []), text]);
    }
    if (wanted.size === 0) return answers;
    const give = (number: number, answer: TrackerResult<IssueFacts>): void => {
      for (const text of wanted.get(number)!) answers.set(text, answer);
    };
    try {
      const pending = await this.#pending([...wanted.keys()]);
      if (pending === null) for (const number of wanted.keys()) give(number, absent);
      else {
        for (let at = 0; at < pending.length; at += issuesPerQuery) {
          const failed = await this.#query(pending.slice(at, at + issuesPerQuery));
          for (const [number, answer] of failed) give(number, answer);
        }
        for (const [number, texts] of wanted) {
          const remembered = this.#memory.get(number);
          if (!answers.has(texts[0]!) && remembered !== undefined) give(number, remembered.answer);
        }
      }
    } catch (error) {
      const why = failureOf(error);
      for (const [number, texts] of wanted) if (!answers.has(texts[0]!)) give(number, why);
    }
    return answers;
  }

  #read(text: string): { repo: string | null; number: number } | null {
    const reference = readReference(text, this.#client.webOrigin, ["issues", "pull"]);
    if (reference === null || reference.number < 1) return null;
    return reference.repo !== null && reference.repo.split("/").length !== 2 ? null : reference;
  }

  /** Issues that changed according to the list of recent updates, or were never queried. Null: no repository. */
  async #pending(numbers: number[]): Promise<number[] | null> {
    const [owner, repo] = this.#repo.split("/");
    const order = { state: "all", sort: "updated", direction: "desc", per_page: listLength };
    const { status, data } = await this.#client.rest("GET /repos/{owner}/{repo}/issues", { owner, repo, ...order });
    // 410: issues are turned off.
    if (status === 404 || status === 410) return null;
    if (status !== 200) {
      throw new Unanswered(`GitHub does not list issues: status ${status}, ${this.#client.messageIn(data)}.`);
    }
    const list = shaped(z.array(z.object({ number: count, updated_at: time })), data, "GitHub");
    const updated = new Map(list.map((one) => [one.number, Date.parse(one.updated_at)]));
    const before = this.#newestSeen;
    this.#newestSeen = Math.max(before, ...updated.values());
    const overflowed = list.length === listLength && before > 0 && Math.min(...updated.values()) > before;
    const { now } = this.#client.http.options.account;
    return numbers.filter((number) => {
      const remembered = this.#memory.get(number);
      if (remembered === undefined || overflowed) return true;
      if (now() - remembered.askedAt >= settledAgeMs) return true;
      return (updated.get(number) ?? 0) > remembered.updatedAt;
    });
  }

  /** Returns the failures; the other issues are remembered. */
  async #query(numbers: readonly number[]): Promise<Map<number, TrackerResult<IssueFacts>>> {
    const [owner, name] = this.#repo.split("/");
    const fields = numbers.map((number) => `i${number}: issueOrPullRequest(number: ${number}) { ...issue ...pull }`);
    const common = "number url title body updatedAt labels(first: 50) { nodes { name } }";
    const query = `query($owner: String!, $name: String!) { repository(owner: $owner, name: $name) {
${fields.join("\n")} } }
fragment issue on Issue { ${common} issueState: state }
fragment pull on PullRequest { ${common} pullState: state }`;
    const answer = await this.#client.graphql(query, { owner, name });
    const repository = repositoryOf(answer);
    const failed = new Map<number, TrackerResult<IssueFacts>>();
    for (const number of numbers) {
      const error = answer.errors.find((one) => one.path[1] === `i${number}`);
      if (repository === null || (error !== undefined && isMissing(error))) this.#remember(number, absent, 0);
      else if (error !== undefined) failed.set(number, failureOf(new Unanswered(`GitHub reports: ${error.message}.`)));
      else {
        try {
          const node = shaped(overGraphql, repository[`i${number}`], "GitHub");
          const labels = node.labels?.nodes.map((label) => label.name) ?? [];
          const state = node.issueState ?? node.pullState;
          // Cleanup removes the work of closed issues: a missing state must not count as closed.
          if (state === undefined) throw new Unanswered("GitHub did not return the issue's state.");
          const facts = factsOf({ ...node, isOpen: state === "OPEN", labels });
          this.#remember(number, known(facts), Date.parse(node.updatedAt));
        } catch (problem) {
          failed.set(number, failureOf(problem));
        }
      }
    }
    return failed;
  }

  #remember(number: number, answer: TrackerResult<IssueFacts>, updatedAt: number): void {
    this.#memory.delete(number);
    this.#memory.set(number, { answer, updatedAt, askedAt: this.#client.http.options.account.now() });
    if (this.#memory.size > maxRemembered) this.#memory.delete(this.#memory.keys().next().value!);
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
