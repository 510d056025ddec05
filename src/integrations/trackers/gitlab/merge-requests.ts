/**
 * Merge requests of many sessions: the list of what was updated last tells which branch has one and which moved; only
 * those are asked for their pipeline and approvals, each request conditional.
 */
import * as z from "zod/mini";
import type { Asked, PullRequestQuestion } from "../../../ports/tracker.ts";
import type { CheckFacts, PullRequestFacts } from "../../../contract/tracker.ts";
import { absent, eachOf, known, notSaid, shaped } from "../asked.ts";
import { Memory, mustAsk, type Updated } from "../memory.ts";
import { plain } from "../text.ts";
import type { GitlabClient } from "./client.ts";
import * as told from "./facts.ts";

/** A few at once are quick without looking like an attack. */
const atOnce = 6;
const perBranch = 5;

export class GitlabMergeRequests {
  readonly #client: GitlabClient;
  readonly #repo: string;
  readonly #memory = new Memory();
  /** Names of forks by their id. */
  readonly #projects = new Map<number, string>();
  #first = true;

  constructor(client: GitlabClient, repo: string) {
    this.#client = client;
    this.#repo = repo;
  }

  async ask(questions: readonly PullRequestQuestion[]): Promise<Map<string, Asked<PullRequestFacts[]>>> {
    const answers = new Map<string, Asked<PullRequestFacts[]>>();
    if (questions.length === 0) return answers;
    try {
      const listing = await this.#updated();
      if (listing === null) return new Map(questions.map((one) => [one.key, absent]));
      const { list, whole, overflowed } = listing;
      const { now } = this.#client.lane.options;
      const asking = new Map<number, Promise<Asked<PullRequestFacts>>>();
      await eachOf(questions, atOnce, async (question) => {
        const remembered = this.#memory.get(question);
        if (!overflowed && !mustAsk(question, remembered, list, now())) {
          answers.set(question.key, known(remembered!.facts));
          return;
        }
        try {
          const facts = await this.#factsOf(question, list, whole, asking);
          this.#memory.put(question, facts, now());
          answers.set(question.key, known(facts));
        } catch (error) {
          answers.set(question.key, notSaid(error));
        }
      });
    } catch (error) {
      const why = notSaid(error);
      for (const one of questions) if (!answers.has(one.key)) answers.set(one.key, why);
    }
    return answers;
  }

  async one(number: number): Promise<Asked<PullRequestFacts>> {
    const value = await this.#client.get(this.#repo, `/merge_requests/${number}`);
    if (value === null) return absent;
    return known(await this.#read(shaped(told.detail, value, "GitLab")));
  }

  /** The first time further back, so that the branches need not be asked one by one. */
  async #updated(): Promise<{ list: Updated[]; whole: boolean; overflowed: boolean } | null> {
    const order = { state: "all", scope: "all", order_by: "updated_at", sort: "desc" };
    const answer = await this.#client.list(this.#repo, "/merge_requests", order, this.#first ? undefined : 1);
    if (answer === null) return null;
    this.#first = false;
    const list = this.#list(answer.items);
    return { list, whole: answer.whole, overflowed: this.#memory.overflowed(list, answer.whole) };
  }

  #list(items: unknown[]): Updated[] {
    return shaped(z.array(told.listed), items, "GitLab").map((one) => ({
      number: one.iid,
      branch: one.source_branch,
      headSha: one.sha ?? "",
      state: told.stateOf(one.state),
      updatedAt: Date.parse(one.updated_at),
    }));
  }

  async #factsOf(
    question: PullRequestQuestion,
    list: readonly Updated[],
    whole: boolean,
    asking: Map<number, Promise<Asked<PullRequestFacts>>>,
  ): Promise<PullRequestFacts[]> {
    let ofBranch = list.filter((one) => one.branch === question.branch);
    if (!whole && ofBranch.length === 0) {
      const query = { source_branch: question.branch, state: "all", scope: "all" };
      ofBranch = this.#list((await this.#client.list(this.#repo, "/merge_requests", query, 1))?.items ?? []);
    }
    const before = this.#memory.get(question)?.facts.map((fact) => fact.number) ?? [];
    const latest = ofBranch.map((one) => one.number).toSorted((a, b) => b - a);
    const numbers = new Set([...latest.slice(0, perBranch), ...question.numbers, ...before]);
    const facts: PullRequestFacts[] = [];
    for (const number of numbers) {
      let one = asking.get(number);
      if (one === undefined) {
        one = this.one(number);
        asking.set(number, one);
      }
      const answer = await one;
      if (answer.is === "known") facts.push(answer.value);
    }
    return facts.toSorted((a, b) => b.number - a.number);
  }

  async #read(value: told.Detail): Promise<PullRequestFacts> {
    const state = told.stateOf(value.state);
    const [review, checks] = state === "open" ? await this.#live(value) : (["none", []] as const);
    return {
      repo: value.references.full.split("!")[0]!,
      number: value.iid,
      url: value.web_url,
      title: plain(value.title),
      state,
      draft: value.draft ?? false,
      headBranch: value.source_branch,
      headSha: value.sha ?? "",
      headRepo: await this.#nameOf(value),
      baseBranch: value.target_branch,
      checks: [...checks],
      review,
      conflict: state === "open" ? told.conflictOf(value) : false,
      mergeable: state === "open" ? told.mergeableOf(value) : false,
      mergeCommit: value.merge_commit_sha ?? value.squash_commit_sha ?? null,
      updatedAt: Date.parse(value.updated_at),
    };
  }

  /** Once it is closed neither changes what follows. */
  async #live(value: told.Detail): Promise<[PullRequestFacts["review"], CheckFacts[]]> {
    const where = `/merge_requests/${value.iid}`;
    const approvals = await this.#client.get(this.#repo, `${where}/approvals`);
    const reviewers =
      (value.reviewers ?? []).length === 0 ? [] : await this.#client.get(this.#repo, `${where}/reviewers`);
    const review = told.reviewOf(
      value,
      approvals === null ? { approved_by: [] } : shaped(told.approvals, approvals, "GitLab"),
      // Older instances do not have it.
      reviewers === null ? [] : shaped(told.reviewers, reviewers, "GitLab"),
    );
    const pipeline = value.head_pipeline;
    if (pipeline === null || pipeline === undefined) return [review, []];
    // A fork's pipeline runs in the fork.
    const at =
      pipeline.project_id === undefined || pipeline.project_id === value.target_project_id
        ? this.#repo
        : pipeline.project_id;
    const jobs = await this.#client.list(at, `/pipelines/${pipeline.id}/jobs`, {});
    return [review, told.checksOf(pipeline, shaped(told.jobs, jobs?.items ?? [], "GitLab"))];
  }

  async #nameOf(value: told.Detail): Promise<string | null> {
    const id = value.source_project_id;
    if (id === null) return null;
    if (id === value.target_project_id) return value.references.full.split("!")[0]!;
    const remembered = this.#projects.get(id);
    if (remembered !== undefined) return remembered;
    const answer = await this.#client.get(id, "");
    if (answer === null) return null;
    const name = shaped(told.project, answer, "GitLab").path_with_namespace;
    this.#projects.set(id, name);
    return name;
  }
}
