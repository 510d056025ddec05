/** Worktrees as the daemon sees them. Work is never deleted: what is removed goes to the trash, whole. */
import type { SessionId, TrashId } from "../contract/ids.ts";
import type { ChangesJson, FilesJson, PatchJson } from "../contract/wire.ts";

export interface WorktreePlan {
  session: SessionId;
  repository: string;
  /** Where the worktree goes; outside the repository. */
  path: string;
  branch: string;
  /** What the branch starts from: a ref of the repository, or null for the freshest default branch. */
  base: string | null;
  defaultBranch: string;
  symlinks: string[];
  copy: string[];
  postCreate: string[];
  env: Record<string, string>;
  /** Where the session keeps git objects of its own, read by every later call about its worktree. */
  objects?: string | null;
}

export interface WorktreeReady {
  path: string;
  branch: string;
  branchCreated: boolean;
  /** The commit the branch starts from, or the name of the unborn branch. */
  base: string;
}

export interface WorktreeWork {
  /** Files changed or untracked. */
  uncommitted: number;
  /** Commits that no other ref reaches, newest first: `<short id> <subject>`. */
  unpushed: string[];
  /** What at the worktree contradicts our own record of it, as a sentence. */
  note?: string;
}

export interface MergeQuestion {
  path: string;
  defaultBranch: string;
  /** The last commits of merged pull requests. */
  heads: string[];
  mergeCommit: string | null;
}

/** See model/landed.ts, which judges them. */
export interface MergeFacts {
  ahead: string[];
  behindNoHead: string[];
  sameFiles: boolean | null;
  samePatch: boolean | null;
}

export interface TrashEntry {
  id: TrashId;
  session: SessionId;
  repository: string;
  path: string;
  branch: string | null;
  /** Pins the commits and a snapshot of the files. */
  ref: string | null;
  trashedAt: number;
  uncommitted: number;
  unpushed: string[];
  /** What could not be counted or pinned, and why. The files themselves are kept in any case. */
  note?: string;
  /** The intent that moved it here: it shows a record that does not have it to be older. */
  intent?: { seq: number; at: number };
}

/** What a worktree is compared with: where its branch began, and the project's default branch as it is now. */
export interface Against {
  base: string;
  defaultBranch: string | null;
}

export interface Worktrees {
  /** How long the trash keeps a worktree. */
  readonly trashDays: number;
  /** For a branch that we name: `wanted`, else `wanted-2` …, the first that neither exists nor is checked out. */
  freeBranch(repository: string, wanted: string): Promise<string>;
  /** What would stop `create`, in sentences with the fix; empty when nothing would. */
  preflight(plan: WorktreePlan): Promise<string[]>;
  /**
   * Repeatable: finishes what an interrupted call began. `output` gets what postCreate prints. Aborted, it ends a command
   * that runs and throws; what was made so far stays as after a crash.
   */
  create(plan: WorktreePlan, output: (text: string) => void, signal?: AbortSignal): Promise<WorktreeReady>;
  /** Whether commands of a `create` still run at this path, of this daemon or of one before it. */
  isCreating(path: string): Promise<boolean>;
  /** Ends them, with all that they started; throws what could not be ended. */
  cancelCreate(path: string): Promise<void>;
  /** Undoes a `create` that failed: only what is provably empty of work is removed, anything else is trashed. */
  undo(plan: WorktreePlan): Promise<void>;
  inspect(path: string): Promise<WorktreeWork>;
  /** Whether what was committed is in its base by content, as facts. Changes nothing. */
  mergeFacts(question: MergeQuestion): Promise<MergeFacts>;
  /** Whether the worktree's HEAD has this commit and the commit it began at does not. */
  isOwnCommit(path: string, commit: string, base: string): Promise<boolean>;
  /** The files that differ from the base, uncommitted ones included. Writes nothing and runs nothing of the repository's. */
  changes(path: string, against: Against): Promise<ChangesJson>;
  /** The same as a patch; of one file, or of all. */
  patch(path: string, against: Against, file: string | null): Promise<PatchJson>;
  /** Paths that fit some letters, best first. */
  files(path: string, query: string, limit: number): Promise<FilesJson>;
  /** Where a trashed worktree lies now; null when it is not there. */
  trashedAt(id: TrashId): Promise<string | null>;
  /** `unknown` where the file system does not say: nothing may be concluded from that. */
  exists(path: string): boolean | "unknown";
  /** The branch that HEAD names now, by reading the file: cheap enough for every line of a list. */
  liveBranch(path: string): string | null;
  /** Repeatable. Refuses while a process or another session uses the worktree. */
  trash(
    request: { session: SessionId; repository: string; path: string; branch: string } & Pick<TrashEntry, "intent">,
  ): Promise<TrashEntry | null>;
  /** Whether a worktree that was gone is at its path again, moved there by hand; registers it where git no longer does. */
  findReturned(own: WorktreeReady & { session: SessionId; repository: string }): Promise<boolean>;
  restore(id: TrashId): Promise<{ path: string; branch: string | null; notes: string[] }>;
  listTrash(): Promise<TrashEntry[]>;
  empty(id: TrashId): Promise<void>;
  /** Keeps files that an agent writes for itself out of `git status`, without touching a tracked file. */
  exclude(path: string, patterns: readonly string[]): Promise<void>;
  /** Keeps one worktree ready for the next spawn, where that pays; `always`: also where the checkout is fast. */
  prepareSpare(repository: string, defaultBranch: string, always?: boolean): Promise<void>;
}
