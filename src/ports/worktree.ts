/** Worktrees as the daemon sees them. Work is never deleted: a removed worktree moves to the trash, complete. */
import type { SessionId, TrashId } from "../contract/ids.ts";
import type { ChangesJson, FilesJson, PatchJson } from "../contract/worktree.ts";
import type { MergeFacts } from "../model/cleanup.ts";

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
  /** Where the session stores its own git objects; every later call about its worktree reads them. */
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
  /** What contradicts our own record of the worktree, as a sentence. */
  note?: string;
}

export interface MergeQuery {
  path: string;
  defaultBranch: string;
  /** The last commits of merged pull requests. */
  heads: string[];
  mergeCommit: string | null;
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
  /** What could not be counted or pinned, and why. The files are kept in any case. */
  note?: string;
  /** The intent that moved it here; a session's record without that intent is older. */
  intent?: { seq: number; at: number };
}

/** What a worktree is compared with: where its branch started, and the project's current default branch. */
export interface Against {
  base: string;
  defaultBranch: string | null;
}

export interface Worktrees {
  /** How long the trash keeps a worktree. */
  readonly trashDays: number;
  /** For a branch that we name: the first of `wanted`, `wanted-2` … that neither exists nor is checked out. */
  freeBranch(repository: string, wanted: string): Promise<string>;
  /** The problems that would stop `create`, as sentences with the fix. */
  preflight(plan: WorktreePlan): Promise<string[]>;
  /**
   * Repeatable: finishes an interrupted call. `output` receives what postCreate prints. Aborting stops the running
   * command and throws; what was created so far stays, as after a crash.
   */
  create(plan: WorktreePlan, output: (text: string) => void, signal?: AbortSignal): Promise<WorktreeReady>;
  /** Whether commands of a `create` still run at this path, of this daemon or an earlier one. */
  isCreating(path: string): Promise<boolean>;
  /** Stops them and everything they started; throws if some of it keeps running. */
  cancelCreate(path: string): Promise<void>;
  /** Undoes a failed `create`: removes only what provably contains no work, and moves anything else to the trash. */
  undo(plan: WorktreePlan): Promise<void>;
  inspect(path: string): Promise<WorktreeWork>;
  /** Facts about whether the base contains the commits' content. Changes nothing. */
  mergeFacts(question: MergeQuery): Promise<MergeFacts>;
  /** Whether the worktree's HEAD contains this commit and its starting commit does not. */
  isOwnCommit(path: string, commit: string, base: string): Promise<boolean>;
  /**
   * The files that differ from the base, including uncommitted ones. Writes nothing, and runs nothing the repository
   * names.
   */
  changes(path: string, against: Against): Promise<ChangesJson>;
  /** The same as a patch, of one file or of all. */
  patch(path: string, against: Against, file: string | null): Promise<PatchJson>;
  /** Paths that match a query, best first. */
  files(path: string, query: string, limit: number): Promise<FilesJson>;
  /** Where a trashed worktree is now; null if it is not in the trash. */
  trashedAt(id: TrashId): Promise<string | null>;
  /** `unknown` if the file system does not respond: nothing may be concluded from that. */
  exists(path: string): boolean | "unknown";
  /** The branch that HEAD names now; cheap enough for every line of a list. */
  liveBranch(path: string): string | null;
  /** Repeatable. Refuses while a process or another session uses the worktree. */
  trash(
    request: { session: SessionId; repository: string; path: string; branch: string } & Pick<TrashEntry, "intent">,
  ): Promise<TrashEntry | null>;
  /** Whether a missing worktree is at its path again, moved back by hand. Registers it again if git dropped it. */
  findReturned(own: WorktreeReady & { session: SessionId; repository: string }): Promise<boolean>;
  restore(id: TrashId): Promise<{ path: string; branch: string | null; notes: string[] }>;
  listTrash(): Promise<TrashEntry[]>;
  empty(id: TrashId): Promise<void>;
  /** Keeps an agent's own files out of `git status`, without changing a tracked file. */
  exclude(path: string, patterns: readonly string[]): Promise<void>;
  /** Keeps one worktree ready for the next spawn if the checkout is slow; `always`: also if it is fast. */
  prepareSpare(repository: string, defaultBranch: string, always?: boolean): Promise<void>;
}
