/** A session as clients see it: the stored state, what was last observed, and the status computed from both. */
import { chatActivity, statusOf } from "../model/status.ts";
import { primaryPullRequest, sortChecks } from "../model/pull-requests.ts";
import { runtimeFacts } from "./observe.ts";
import type { StoredEvent } from "../contract/event.ts";
import { notContained } from "../contract/containment.ts";
import { plainFields, type SessionState } from "../model/session.ts";
import { statusNeedsYou } from "../model/board.ts";
import type { SeenIssue } from "../contract/tracker.ts";
import { whyDefaults } from "../contract/trust.ts";
import type { EventJson } from "../contract/stream.ts";
import type { PullRequestJson, SessionJson } from "../contract/session.ts";
import type { Loop } from "./loop.ts";
import type { Services } from "./services.ts";
import { listedRequests } from "./permission-requests.ts";
import { lastLineOf, quoteShellWord } from "../model/text.ts";

/** The line grows while the agent writes; a card need not follow each word. */
const freshMs = 250;
/** Longer than any displayed line. */
const keptCharacters = 1_000;

interface Known {
  seq: number;
  at: number;
  text: string;
  line: string | null;
}

const known = new WeakMap<object, Map<string, Known>>();

/** @param message the last message that a terminal agent reported: a screen's last line is its input line. */
function lastLine(
  services: Pick<Services, "store" | "clock">,
  session: SessionState,
  message: string | undefined,
): string | null {
  if (session.kind === "terminal") {
    const { run } = session;
    return lastLineOf(run.run === "ended" || run.run === "failed" ? run.lastLines.join("\n") : (message ?? ""));
  }
  const { store } = services;
  const sessions = known.get(store) ?? new Map<string, Known>();
  known.set(store, sessions);
  const before = sessions.get(session.id);
  const now = services.clock.now();
  if (before?.seq === session.seq) return before.line;
  // Always read at the end of a turn: the next event may be hours away.
  if (before !== undefined && session.turn.turn === "open" && Math.abs(now - before.at) < freshMs) return before.line;
  const more = store.agentText(session.id, before?.seq ?? 0);
  const text = `${before?.text ?? ""}${more}`.slice(-keptCharacters);
  const line = more === "" && before !== undefined ? before.line : lastLineOf(text);
  sessions.set(session.id, { seq: session.seq, at: now, text, line });
  return line;
}

/** What a status is computed from. */
export type StatusServices = Pick<Services, "workspaces" | "settings" | "clock" | "restore" | "polledAt">;
/** What a session's JSON is made from. */
export type ViewServices = StatusServices & Pick<Services, "store" | "runtimes">;

/** Until the project's own limit is known. */
const defaultStuckMinutes = 30;

/** The last result: all events of one commit have the same time. */
let last = { at: 0, text: new Date(0).toISOString() };

export function iso(at: number): string {
  if (at !== last.at) last = { at, text: new Date(at).toISOString() };
  return last.text;
}

export function eventJson(event: StoredEvent): EventJson {
  // A single copy: a flood sends tens of thousands of events per second.
  return { ...event, at: iso(event.at) };
}

export function sessionJson(services: ViewServices, loop: Loop, session: SessionState): SessionJson {
  const observation = loop.observation(session);
  const branch = liveBranch(services, session);
  // A known branch means that the worktree exists.
  const {
    status,
    reason,
    turnFailed = false,
  } = currentStatus(services, loop, session, branch === null ? undefined : true);
  const seen = observation?.seen.is === "known" ? observation.seen.value : null;
  const { intent } = session;
  const pullRequests = session.pullRequests === undefined ? [] : pullRequestsJson(services, session);
  return {
    ...pick(session, plainFields),
    name: session.id,
    status,
    reason: reason ?? loop.lastError(session.id)?.message ?? null,
    needsYou: turnFailed || statusNeedsYou(status),
    intent: {
      want: intent.want,
      by: intent.by,
      at: iso(intent.at),
      ...(intent.want === "snoozed" ? { until: iso(intent.until) } : {}),
    },
    branch: branch ?? (session.workspace.at === "trashed" ? session.workspace.branch : null) ?? session.branch,
    contain: session.contain ?? notContained,
    pullRequest: session.pullRequest === null ? null : (pullRequests[0] ?? session.pullRequest),
    ...(pullRequests.length === 0 ? {} : { pullRequests }),
    ...(session.issueSeen === undefined ? {} : { issueFacts: issueJson(session.issueSeen) }),
    processes: (seen?.processes ?? []).map(({ identity, what, startedAt }) => ({
      pid: identity.pid,
      startedAt: iso(startedAt),
      what,
    })),
    trash: session.workspace.at === "trashed" ? session.workspace.trash : null,
    workspace: session.workspace.at,
    attach: attachText(services, session),
    activity: seen?.activity && session.kind === "chat" ? chatActivity(session) : (seen?.activity?.activity ?? null),
    permissions: session.permissions.length === 0 ? [] : listedRequests(services.store, session),
    queued: session.queue.length,
    lastLine: lastLine(services, session, seen?.lastMessage),
    createdAt: iso(session.createdAt),
    lastActivityAt: iso(Math.max(session.lastActivityAt, seen?.activity?.since ?? 0)),
    end: endJson(session),
    ...noticeOf(services, session),
  };
}

function pick<T, const K extends keyof T>(from: T, keys: readonly K[]): Pick<T, K> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Pick<T, K>;
}

/** From the last known settings: a list of sessions reads no files. */
function noticeOf(services: Pick<Services, "settings">, session: SessionState): { notice?: string } {
  if (session.intent.want === "killed" || session.intent.want === "deleted") return {};
  const notice = whyDefaults(session.project, services.settings.last(session.project)?.trust.state ?? "none");
  return notice === null ? {} : { notice };
}

/** The primary one first. */
function pullRequestsJson(services: Pick<Services, "polledAt">, session: SessionState): PullRequestJson[] {
  const polledAt = services.polledAt(session.id);
  const primary = primaryPullRequest(session.pullRequests);
  const shown = (session.pullRequests ?? []).filter(({ lost }) => lost === null);
  return [...shown.filter((one) => one === primary), ...shown.filter((one) => one !== primary)].map(
    ({ facts, seenAt, claimed }) => {
      const { failed, pending, passed } = sortChecks(facts.checks);
      return {
        url: facts.url,
        state: facts.state,
        number: facts.number,
        title: facts.title,
        draft: facts.draft,
        headBranch: facts.headBranch,
        baseBranch: facts.baseBranch,
        checks: {
          passed: passed.length,
          failed: failed.length,
          pending: pending.length,
          failedNames: failed.map(({ name }) => name),
        },
        review: facts.review,
        conflict: facts.conflict,
        mergeable: facts.mergeable,
        claimed,
        seenAt: iso(Math.max(seenAt, polledAt ?? 0)),
      };
    },
  );
}

function issueJson({ key, url, title, state, seenAt }: SeenIssue): NonNullable<SessionJson["issueFacts"]> {
  return { key, url, title, state, seenAt: iso(seenAt) };
}

/** The branch that is checked out now; one broken worktree must not break the list. */
function liveBranch(services: Pick<Services, "workspaces">, session: SessionState): string | null {
  try {
    return services.workspaces.liveBranch(session.workspacePath);
  } catch {
    return null;
  }
}

export function currentStatus(
  services: StatusServices,
  loop: Pick<Loop, "observation" | "missingProgram">,
  session: SessionState,
  /** Set if the worktree is already known to exist. */
  isThere?: true,
): ReturnType<typeof statusOf> {
  const settings = services.settings.last(session.project);
  const observation = loop.observation(session);
  const there = isThere ?? services.workspaces.exists(session.workspacePath);
  const since = observation?.seen.is === "known" ? (observation.seen.value.activity?.since ?? 0) : 0;
  return statusOf(
    { ...session, lastActivityAt: Math.max(session.lastActivityAt, since) },
    runtimeFacts(observation),
    services.clock.now(),
    {
      stuckAfterMs: (settings?.stuckMinutes ?? defaultStuckMinutes) * 60_000,
      workspaceThere: there === "unknown" ? undefined : there,
      restoreLost: services.restore && (settings?.restoreOnBoot ?? true),
      missingProgram: loop.missingProgram(session.id),
      polledAt: services.polledAt(session.id),
    },
  );
}

/** A command to paste into a shell. */
function attachText(services: Pick<Services, "runtimes">, session: SessionState): string | null {
  if (session.run.run !== "up") return null;
  const argv = services.runtimes[session.kind].attachCommand(session);
  return argv === null ? null : argv.map(quoteShellWord).join(" ");
}

function endJson({ run, intent }: SessionState): SessionJson["end"] {
  if (run.run !== "failed" && run.run !== "ended") return null;
  const { lastLines } = run;
  const at = iso(run.at);
  if (run.run === "failed") return { how: "launch-failed", by: "agent", at, exitCode: null, signal: null, lastLines };
  const by = run.how === "stopped" ? intent.by : run.how === "lost" ? "machine" : "agent";
  return { how: run.how, by, at, exitCode: run.exit?.code ?? null, signal: run.exit?.signal ?? null, lastLines };
}
