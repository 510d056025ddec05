/** The adapter for Linear: issues only, over its GraphQL API. */
import * as z from "zod/mini";
import type { TrackerResult, TrackerSettings } from "../../../ports/tracker.ts";
import type { IssueFacts } from "../../../contract/tracker.ts";
import type { Account } from "../account.ts";
import { absent, jsonIn, resultOf, known, shaped, webAddress, type Bounds, type OpenedTracker } from "../result.ts";
import { TrackerHttp, type ReadLimit, Unanswered } from "../http.ts";
import { plain, prose } from "../text.ts";

/** Linear limits a query's possible nodes: a hundred issues with ten labels stay far below. */
const issuesPerQuery = 100;
/** Issues moved to another team are not found by number; each costs one request. */
const maxSingles = 20;

const issueFields = "identifier title description url state { type } labels(first: 10) { nodes { name } }";

type Send = (query: string, variables: object) => Promise<{ data: unknown; errors: string[] }>;

export function openLinear(settings: TrackerSettings, account: Account, bounds: Bounds): OpenedTracker {
  const http = new TrackerHttp({
    name: "Linear",
    account,
    readLimit: readLinearLimit,
    remainingHeader: "x-ratelimit-requests-remaining",
    ...bounds,
  });
  const send: Send = async (query, variables) => {
    const token = await account.token();
    const base = (settings.baseUrl ?? "https://api.linear.app").replace(/\/+$/, "").replace(/\/graphql$/, "");
    const answer = await http.send({
      method: "POST",
      url: `${base}/graphql`,
      headers: {
        // Personal keys are sent as they are, OAuth tokens as bearer tokens.
        authorization: token.startsWith("lin_oauth_") ? `Bearer ${token}` : token,
        "content-type": "application/json",
        "user-agent": "holdfast",
      },
      body: JSON.stringify({ query, variables }),
      resource: "api",
    });
    const { data, errors } = shaped(answerShape, jsonIn(answer.text), "Linear");
    if (answer.status !== 200 && errors === undefined) throw new Unanswered(`Linear returned status ${answer.status}.`);
    return { data, errors: (errors ?? []).map(({ message }) => http.sentence(message)) };
  };
  const one = async (key: string): Promise<TrackerResult<IssueFacts>> =>
    await resultOf(async () => {
      const query = `query($id: String!) { issue(id: $id) { ${issueFields} } }`;
      const { data, errors } = await send(query, { id: key });
      if (errors.some((error) => /not found/i.test(error))) return absent;
      if (errors[0] !== undefined) throw new Unanswered(`Linear reports: ${errors[0]}.`);
      return known(factsOf(shaped(z.object({ issue: issueShape }), data, "Linear").issue));
    });
  return {
    http,
    host: null,
    async issue(reference) {
      const key = keyOf(reference, settings.repo);
      return key === null ? absent : await one(key);
    },
    async issues(references) {
      const keys = new Map(references.map((text) => [text, keyOf(text, settings.repo)]));
      const wanted = [...new Set([...keys.values()].filter((key) => key !== null))];
      const found = new Map<string, TrackerResult<IssueFacts>>();
      for (let at = 0; at < wanted.length; at += issuesPerQuery) {
        const part = wanted.slice(at, at + issuesPerQuery);
        const answer = await resultOf(async () => known(await byNumber(send, part)));
        for (const key of part) {
          const facts = answer.is === "known" ? answer.value.get(key) : undefined;
          found.set(key, answer.is === "unknown" ? answer : facts === undefined ? absent : known(facts));
        }
      }
      let singles = 0;
      for (const [key, answer] of found) {
        if (answer.is === "absent" && singles++ < maxSingles) found.set(key, await one(key));
      }
      return new Map([...keys].map(([text, key]) => [text, key === null ? absent : found.get(key)!]));
    },
  };
}

/** `INT-12`, its address, or a bare number of the settings' team. */
export function keyOf(reference: string, team: string): string | null {
  const text = reference.trim();
  const inAddress = /^https:\/\/linear\.app\/[\w-]+\/issue\/([A-Za-z][A-Za-z0-9]*-\d{1,9})(?:[/?#]|$)/.exec(text)?.[1];
  const key = inAddress ?? (/^#?\d{1,9}$/.test(text) ? `${team}-${text.replace("#", "")}` : text);
  return /^[A-Za-z][A-Za-z0-9]*-\d{1,9}$/.test(key) ? key.toUpperCase() : null;
}

/** One list per team: with `issue(id)`, one missing issue would fail the complete query. */
async function byNumber(send: Send, keys: readonly string[]): Promise<Map<string, IssueFacts>> {
  const teams = Map.groupBy(keys, (key) => key.split("-")[0]!);
  const variables: Record<string, unknown> = {};
  const declared: string[] = [];
  const fields = [...teams].map(([team, own], index) => {
    variables[`t${index}`] = team;
    variables[`n${index}`] = own.map((key) => Number(key.split("-")[1]));
    declared.push(`$t${index}: String!`, `$n${index}: [Float!]!`);
    const filter = `{team: {key: {eq: $t${index}}}, number: {in: $n${index}}}`;
    return `l${index}: issues(filter: ${filter}, first: ${issuesPerQuery}) { nodes { ${issueFields} } }`;
  });
  const query = `query(${declared.join(", ")}) { ${fields.join("\n")} }`;
  const { data, errors } = await send(query, variables);
  if (errors[0] !== undefined) throw new Unanswered(`Linear reports: ${errors[0]}.`);
  const lists = shaped(z.record(z.string(), z.object({ nodes: z.array(issueShape) })), data, "Linear");
  const found = Object.values(lists).flatMap((list) => list.nodes.map((one) => factsOf(one)));
  return new Map(found.map((one) => [one.key, one]));
}

const answerShape = z.object({
  data: z.nullish(z.unknown()),
  errors: z.optional(z.array(z.object({ message: z.string() }))),
});

const issueShape = z.object({
  identifier: z.string().check(z.regex(/^[A-Z][A-Z0-9]*-\d+$/)),
  title: z.string(),
  description: z.nullable(z.string()),
  url: webAddress,
  state: z.object({ type: z.string() }),
  labels: z.object({ nodes: z.array(z.object({ name: z.string() })) }),
});

const closedTypes = new Set(["completed", "canceled", "duplicate"]);

function factsOf(node: z.infer<typeof issueShape>): IssueFacts {
  return {
    key: node.identifier,
    url: node.url,
    title: plain(node.title),
    body: prose(node.description ?? ""),
    state: closedTypes.has(node.state.type) ? "closed" : "open",
    labels: node.labels.nodes.map((label) => plain(label.name)),
  };
}

/** Linear reports rate limits with status 400 and a code in the error. */
const readLinearLimit: ReadLimit = (answer, now) => {
  if (answer.status !== 429 && !(answer.status === 400 && answer.text.includes('"RATELIMITED"'))) return null;
  const reset = Number(answer.headers.get("x-ratelimit-requests-reset") ?? Number.NaN);
  const until = Number.isFinite(reset) && reset > now ? reset : now + 60_000;
  return { until, resource: null, why: "Linear's rate limit for this token is used up." };
};
