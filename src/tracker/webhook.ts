/**
 * What a webhook says moved. It only ever makes the daemon ask sooner: nothing in it is taken for a fact, and nothing
 * of it is read before its signature holds.
 */
import { crypto } from "../base/crypto.ts";
import type { TrackerSettings } from "../ports/tracker.ts";
import { sameRepo } from "./reference.ts";

export type WebhookRead = { repo: string; branch: string | null; number: number | null } | { refused: string };

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Header names in lower case, as Node gives them; the body byte for byte, since the signature is over bytes. */
export function webhookOf(
  settings: TrackerSettings,
  headers: Headers,
  rawBody: Uint8Array,
  secret: string,
): WebhookRead {
  if (secret === "") return { refused: "No webhook secret is set." };
  if (settings.type === "linear") return { refused: "Webhooks of Linear are not understood." };
  const isSigned = settings.type === "github" ? isGithubs(headers, rawBody, secret) : isGitlabs(headers, secret);
  if (!isSigned) return { refused: "The webhook's signature does not fit the secret." };
  let body: unknown;
  try {
    body = JSON.parse(Buffer.from(rawBody).toString("utf8"));
  } catch {
    return { refused: "The webhook's body is not JSON." };
  }
  const read = settings.type === "github" ? readGithub(body) : readGitlab(body);
  if (read.repo === null) return { refused: "The webhook names no repository." };
  if (!sameRepo(read.repo, settings.repo)) return { refused: "The webhook is about another repository." };
  return { repo: read.repo, branch: read.branch, number: read.number };
}

interface Read {
  repo: string | null;
  branch: string | null;
  number: number | null;
}

function isGithubs(headers: Headers, rawBody: Uint8Array, secret: string): boolean {
  const given = headers["x-hub-signature-256"];
  const expected = `sha256=${crypto().createHmac("sha256", secret).update(rawBody).digest("hex")}`;
  return typeof given === "string" && isSame(given, expected);
}

function isGitlabs(headers: Headers, secret: string): boolean {
  const given = headers["x-gitlab-token"];
  return typeof given === "string" && isSame(given, secret);
}

/** Of digests, so that neither contents nor lengths show in the time it takes. */
function isSame(a: string, b: string): boolean {
  const digest = (text: string): Buffer => crypto().createHash("sha256").update(text).digest();
  return crypto().timingSafeEqual(digest(a), digest(b));
}

function readGithub(body: unknown): Read {
  const pull =
    at(body, "pull_request") ??
    at(body, "check_run", "pull_requests", 0) ??
    at(body, "check_suite", "pull_requests", 0);
  const branch =
    at(pull, "head", "ref") ??
    at(body, "check_run", "check_suite", "head_branch") ??
    at(body, "check_suite", "head_branch") ??
    at(body, "workflow_run", "head_branch") ??
    at(body, "workflow_job", "head_branch") ??
    at(body, "branches", 0, "name") ??
    at(body, "ref");
  const number = at(pull, "number") ?? at(body, "issue", "number");
  return { repo: text(at(body, "repository", "full_name")), branch: branchOf(branch), number: whole(number) };
}

function readGitlab(body: unknown): Read {
  const kind = at(body, "object_kind");
  const isMerge = kind === "merge_request";
  const of = isMerge ? at(body, "object_attributes") : at(body, "merge_request");
  const branch =
    at(of, "source_branch") ??
    (kind === "pipeline" ? at(body, "object_attributes", "ref") : undefined) ??
    at(body, "ref");
  const issue = kind === "issue" ? at(body, "object_attributes", "iid") : at(body, "issue", "iid");
  const repo = at(body, "project", "path_with_namespace") ?? at(body, "project", "path");
  return { repo: text(repo), branch: branchOf(branch), number: whole(at(of, "iid") ?? issue) };
}

function at(value: unknown, ...path: (string | number)[]): unknown {
  let here = value;
  for (const part of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, part)) return undefined;
    here = (here as Record<string | number, unknown>)[part];
  }
  return here ?? undefined;
}

function text(value: unknown): string | null {
  return typeof value === "string" && value !== "" && value.length < 500 ? value : null;
}

function branchOf(value: unknown): string | null {
  return text(value)?.replace(/^refs\/heads\//, "") ?? null;
}

function whole(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null;
}
