/** For tests of what asks trackers: a real store, a scripted tracker, and parts that answer by a table. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openStore } from "../../store/open.ts";
import type { ProjectSettings } from "../../ports/projects.ts";
import type { Store } from "../../ports/store.ts";
import type { TrackerResult, CodeHost, PullRequestLookup, Tracker, Trackers } from "../../ports/tracker.ts";
import type { Worktrees } from "../../ports/worktree.ts";
import { asProjectId, asSessionId, type SessionId } from "../../contract/ids.ts";
import type { IssueFacts, PullRequestFacts } from "../../contract/tracker.ts";
import { ready } from "../../supervisor/facts.fixture.ts";
import type { KnownSettings } from "../../supervisor/known-settings.ts";
import { Tracking, type PollTimes } from "./tracking.ts";

export class ScriptedTracker implements Tracker {
  readonly settings = { type: "github", repo: "owner/app", baseUrl: null, tokenEnv: null } as const;
  readonly host: CodeHost;
  asked: PullRequestLookup[][] = [];
  issuesAsked: string[][] = [];
  pullRequestsAsked: string[] = [];
  answer: (lookup: PullRequestLookup) => TrackerResult<PullRequestFacts[]> = () => ({ is: "known", value: [] });
  issueAnswer: (reference: string) => TrackerResult<IssueFacts> = () => ({ is: "absent" });
  pullRequestAnswer: (reference: string) => TrackerResult<PullRequestFacts> = () => ({ is: "absent" });
  restsUntil: number | null = null;
  /** Held back until this resolves. */
  gate: Promise<void> = Promise.resolve();

  constructor() {
    const never = (): never => {
      throw new Error("not scripted");
    };
    this.host = {
      pullRequests: async (lookups) => {
        this.asked.push([...lookups]);
        await this.gate;
        return new Map(lookups.map((lookup) => [lookup.key, this.answer(lookup)]));
      },
      pullRequest: (reference) => {
        this.pullRequestsAsked.push(reference);
        return Promise.resolve(this.pullRequestAnswer(reference));
      },
      logTail: never,
      threads: never,
      merge: never,
    };
  }

  issue(reference: string): Promise<TrackerResult<IssueFacts>> {
    return Promise.resolve(this.issueAnswer(reference));
  }

  issues(references: readonly string[]): Promise<Map<string, TrackerResult<IssueFacts>>> {
    this.issuesAsked.push([...references]);
    return Promise.resolve(new Map(references.map((one) => [one, this.issueAnswer(one)])));
  }

  budget(): ReturnType<Tracker["budget"]> {
    const requests = this.asked.length;
    return { requests, notModified: 0, remaining: null, restsUntil: this.restsUntil, failure: null };
  }
}

export interface TrackingWorld {
  store: Store;
  trackers: Map<string, ScriptedTracker>;
  tracking: Tracking;
  polled: PollTimes;
  polls: SessionId[][];
  log: string[];
  now: { value: number };
  settings: KnownSettings;
  session(id: string, project?: string, issue?: string | null): Promise<void>;
}

/** Projects by the repository that their tracker has; null: none. */
export async function trackingWorld(projects: Record<string, string | null>): Promise<TrackingWorld> {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-tracking-"));
  const now = { value: 1_700_000_000_000 };
  const store = openStore({
    path: ":memory:",
    backupsDirectory: join(directory, "backups"),
    reservePath: null,
    now: () => now.value,
  });
  const trackers = new Map<string, ScriptedTracker>();
  const log: string[] = [];
  for (const id of Object.keys(projects)) {
    await store.putProject({ id: asProjectId(id), path: "/", prefix: id, configFile: null, addedAt: 0 });
  }
  const settingsOf = (id: string): ProjectSettings => {
    const repo = projects[id] ?? null;
    const place = { type: "github", repo, baseUrl: null, tokenEnv: null, webhookSecretEnv: null };
    const tracker = repo === null ? null : place;
    return {
      id,
      defaultBranch: "main",
      tracker,
      codeHost: tracker,
      reactions: {},
      notify: {},
    } as unknown as ProjectSettings;
  };
  const settings: KnownSettings = {
    read: (row) => Promise.resolve(settingsOf(row.id)),
    forSession: (id) => Promise.resolve(settingsOf(id)),
    last: (id) => settingsOf(id),
    lostEnv: () => [],
    forgetValues: () => Promise.resolve(),
  };
  const factory: Trackers = {
    for: ({ repo }) => {
      const found = trackers.get(repo) ?? new ScriptedTracker();
      trackers.set(repo, found);
      return found;
    },
    close: () => Promise.resolve(),
  };
  const workspaces = {
    liveBranch: (path: string) => path.split("/").at(-1) ?? null,
    isOwnCommit: (_path: string, commit: string) => Promise.resolve(commit.startsWith("a")),
  } as unknown as Worktrees;
  const polled = { pullRequests: new Map<SessionId, number>(), issues: new Map<SessionId, number>() };
  const polls: SessionId[][] = [];
  const say = (message: string): void => void log.push(message);
  const tracking = new Tracking(
    {
      store,
      settings,
      workspaces,
      clock: { now: () => now.value, bootId: () => "boot", uptime: () => now.value },
      log: { debug: say, info: say, warn: say, error: say },
      trackers: factory,
      polled,
    },
    (ids) => {
      polls.push(ids);
      return Promise.resolve();
    },
  );
  onTestFinished(async () => {
    await tracking.close();
    store.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    store,
    trackers,
    tracking,
    polled,
    polls,
    log,
    now,
    settings,
    session: async (id, project = "app", issue = null) => {
      await store.create(
        {
          type: "session.created",
          id: asSessionId(id),
          project: asProjectId(project),
          kind: "terminal",
          role: "worker",
          agent: "demo",
          title: id,
          issue,
          branch: id,
          branchCreated: true,
          base: "b".repeat(40),
          workspacePath: `/worktrees/${id}`,
          by: "person",
        },
        [{ ...ready, path: `/worktrees/${id}`, branch: id } as typeof ready],
      );
    },
  };
}
