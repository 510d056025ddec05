import { describeContainment } from "../../../contract/containment.ts";
import type { PullRequestJson, SessionJson } from "../../../contract/session.ts";
import { type CommandEntry, sessionArgument } from "../../command.ts";
import { commandFor, questionOf } from "../../render/sessions.ts";
import { requestLines } from "../../render/permission-request.ts";
import { clean, count, type Paint } from "../../render/text.ts";
import { formatAgeOf } from "../../../model/duration.ts";

export const command: CommandEntry = {
  arguments: [sessionArgument],
  examples: [
    ["show its worktree and status", "holdfast session show ma-12"],
    ["get its worktree, for a script", "holdfast session show ma-12 --json | jq -r .workspacePath"],
  ],
  fails: "show",
  async run(context, input) {
    const id = input.arg(0);
    const session = await context.call("session", { params: { id } });
    if (input.flag("json")) return context.json(session);
    // The session itself has shortened commands; a request that is about to be approved is shown in full.
    const requests = session.permissions.length === 0 ? [] : await context.call("questions", { params: { id } });
    const lines = requests.flatMap((request) => requestLines(request, context.paint));
    context.out([...showLines(session, context.paint, context.now()), ...lines].join("\n"));
  },
};

export function showLines(session: SessionJson, paint: Paint, now: number): string[] {
  const { intent, end, pullRequest } = session;
  const ago = (time: string | null): string => (time === null ? "" : ` (${formatAgeOf(time, now)} ago)`);
  const until = intent.until === undefined || intent.until === null ? "" : ` until ${intent.until}`;
  const asks = questionOf(session);
  const next = commandFor(session);
  const rows: [string, string | null][] = [
    ["Title", session.title],
    ["Project", session.project],
    ["Status", `${session.status}${session.reason === null || asks !== null ? "" : `: ${session.reason}`}`],
    ["Notice", session.notice ?? null],
    ["Asks", asks],
    [next?.what ?? "", next?.command ?? null],
    ["Wanted", `${intent.want}${until}, by ${intent.by}${ago(intent.at)}`],
    ["Agent", `${session.agent}, ${session.kind}, ${session.role}`],
    ["Issue", issueText(session)],
    ["Branch", session.branch],
    ["Base", session.base],
    ["Worktree", session.trash === null ? session.workspacePath : `in the trash as ${session.trash}`],
    ["Contained", containText(session)],
    ["Pull request", pullRequest === null ? null : pullRequestText(pullRequest)],
    ["Checks", pullRequest === null ? null : checksText(pullRequest)],
    ["Review", pullRequest === null ? null : reviewText(pullRequest)],
    ...(session.pullRequests ?? []).slice(1).map((other): [string, string] => ["Also", pullRequestText(other)]),
    ["Conversation", session.agentSessionId],
    ["Queued", session.queued === 0 ? null : count(session.queued, "prompt")],
    ["Created", session.createdAt === null ? null : `${session.createdAt}${ago(session.createdAt)}`],
    [
      "Last activity",
      session.lastActivityAt === null ? null : `${session.lastActivityAt}${ago(session.lastActivityAt)}`,
    ],
    ["Attach", session.attach === null ? null : `holdfast attach ${session.id}`],
  ];
  return [
    paint.green(clean(session.id)),
    ...rows.flatMap(([name, value]) => (value === null ? [] : [`  ${`${name}:`.padEnd(14)} ${clean(value)}`])),
    ...session.processes.map(({ pid, what }) => `  ${"Process:".padEnd(14)} ${pid} (${clean(what)})`),
    ...(end === null ? [] : endLines(end, paint, now)),
  ];
}

function containText({ contain }: SessionJson): string | null {
  if (contain === undefined || contain.mode === "off") return null;
  const more = [...contain.read, ...contain.write.map((path) => `${path} (writable)`)];
  return [describeContainment(contain), ...(more.length === 0 ? [] : [`also ${more.join(", ")}`])].join("; ");
}

function pullRequestText({ url, state, draft, conflict }: PullRequestJson): string {
  const more = [state, ...(draft === true ? ["draft"] : []), ...(conflict === true ? ["has conflicts"] : [])];
  return `${url} (${more.join(", ")})`;
}

function checksText({ checks }: PullRequestJson): string | null {
  if (checks === undefined || checks.passed + checks.failed + checks.pending === 0) return null;
  const names = checks.failedNames.length === 0 ? "" : `: ${checks.failedNames.join(", ")}`;
  return `${checks.passed} passed, ${checks.pending} pending, ${checks.failed} failed${names}`;
}

function reviewText({ review }: PullRequestJson): string | null {
  return review === undefined || review === "none" ? null : review.replaceAll("_", " ");
}

function issueText({ issue, issueFacts }: SessionJson): string | null {
  return issueFacts === undefined ? issue : `${issueFacts.key} (${issueFacts.state}) ${issueFacts.url}`;
}

function endLines(end: NonNullable<SessionJson["end"]>, paint: Paint, now: number): string[] {
  const facts = [
    ...(end.exitCode === null ? [] : [`exit code ${end.exitCode}`]),
    ...(end.signal === null ? [] : [clean(end.signal)]),
  ].join(", ");
  const when = end.at === null ? "" : `, ${formatAgeOf(end.at, now)} ago`;
  return [
    `  ${"Ended:".padEnd(14)} ${clean(end.how)} by ${clean(end.by)}${facts === "" ? "" : ` (${facts})`}${when}`,
    ...end.lastLines.map((line) => paint.dim(`    ${clean(line)}`)),
  ];
}
