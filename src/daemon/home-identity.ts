/**
 * Which home this is. Its database names the home's id and the directory it was last started in. A database that is found
 * somewhere else belongs to a home that was moved or copied, and only the user knows which: a copy names agents, worktrees
 * and conversations that the original still uses. The start stops until `--moved` or `--copied` answers.
 *
 * The path decides, not the inode: device numbers change over reboots and inodes over a restored backup.
 */
import { randomUUID } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { makePrivateDirectory, writeAtomically } from "../base/durable-file.ts";
import { homeIdentitySetting, homeMismatch } from "../base/home-lock.ts";
import { socketNameFor, type Paths } from "../base/paths.ts";
import { reach } from "../base/test-points.ts";
import { applyVerb, policyActors } from "../model/lifecycle.ts";
import type { Logger } from "../ports/api.ts";
import type { Store } from "../ports/store.ts";
import { HoldfastError, messageOf } from "../contract/errors.ts";
import type { SessionState } from "../model/session.ts";

export type HomeChoice = "moved" | "copied" | null;

export interface SettledHome {
  id: string;
  /** For the user, after a move or a copy. */
  notes: string[];
}

interface Identity {
  id: string;
  /** The home directory, without links. */
  path: string;
  /** The directory of the worktrees, without links: apart from the home where XDG directories are used. */
  worktrees: string;
}

export async function settleHome(
  store: Store,
  paths: Paths,
  { answer, log }: { answer: HomeChoice; log: Logger },
): Promise<SettledHome> {
  const here = { path: realpathSync(paths.home), worktrees: realOf(paths.worktrees) };
  const kept = readIdentity(store) ?? inferred(store, paths) ?? marked(paths, here);
  if (kept === null || kept.path === here.path) {
    const id = keepMark(paths, here.path, kept?.id);
    if (kept === null || kept.id !== id || kept.worktrees !== here.worktrees) await keep(store, { id, ...here });
    return { id, notes: [] };
  }
  if (answer === null) {
    const { message, hint } = homeMismatch(kept.path, here.path);
    throw new HoldfastError("conflict", message, { hint });
  }
  log.info("the home is in another directory than before", { before: kept.path, now: here.path, answer });
  return answer === "moved" ? moved(store, paths, kept, here) : copied(store, paths, kept, here);
}

/**
 * The same home in another directory. Running agents, hooks, worktrees and git's registrations of them name the old path,
 * so a link is left there.
 */
async function moved(store: Store, paths: Paths, kept: Identity, here: Omit<Identity, "id">): Promise<SettledHome> {
  const notes = linkOldPath(kept.path, here.path);
  const id = keepMark(paths, here.path, kept.id, kept.path);
  await keep(store, { id, ...here });
  return { id, notes };
}

function linkOldPath(before: string, now: string): string[] {
  if (lstatSync(before, { throwIfNoEntry: false }) !== undefined) {
    if (isSame(before, now)) return [];
    throw new HoldfastError("conflict", `The home cannot have moved here: ${before} still exists.`, {
      hint: `If ${now} is a copy of it: holdfast start --copied\nIf not, rename ${before} first, then: holdfast start --moved`,
    });
  }
  try {
    symlinkSync(now, before);
  } catch (error) {
    throw new HoldfastError("conflict", `Cannot link ${before} to ${now}: ${messageOf(error)}`, {
      hint: `Worktrees and running agents name the old path. Create the link yourself (ln -s ${now} ${before}), then: holdfast start --moved`,
    });
  }
  return [`Linked ${before} to ${now}: worktrees and running agents name the old path. Keep the link.`];
}

function isSame(one: string, other: string): boolean {
  const a = statSync(one, { throwIfNoEntry: false });
  const b = statSync(other);
  return a !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/**
 * A home with a new identity. The sessions it names are the original's: their records end here, and the copied
 * files of worktrees, trash and launches are set aside unopened, because git and the agents know them under the
 * original's registrations and ids. The identity is written last: a crash before that asks again and repeats all of it.
 */
async function copied(store: Store, paths: Paths, kept: Identity, here: Omit<Identity, "id">): Promise<SettledHome> {
  if (kept.worktrees === here.worktrees) {
    throw new HoldfastError("conflict", `This copy would share its worktrees with the original: ${here.worktrees}`, {
      hint: "Give the copy its own directories: set HOLDFAST_HOME to the copied directory, or XDG_DATA_HOME to another one.",
    });
  }
  const id = randomUUID();
  const aside = setAside(paths, id);
  await reach("home.set-aside");
  for (const { id: session } of store.deleting()) {
    await store.commit(session, (state) =>
      isOfOriginal(state) ? [{ type: "session.copied", original: kept.path }] : [],
    );
  }
  for (const { id: session } of store.sessions()) {
    await store.applyVerb(session, (state) => {
      if (!isOfOriginal(state)) return null;
      const verb = { verb: "copy", original: kept.path } as const;
      const answer = applyVerb(state, verb, { by: policyActors.copy, agent: "down" });
      return answer.ok ? answer : null;
    });
  }
  rmSync(paths.tmuxSocketName, { force: true });
  keepMark(paths, here.path, id);
  await keep(store, { id, ...here });
  const notes = [
    `This home is now independent of ${kept.path}. Its existing sessions stay with the original; here they are listed as killed.`,
    ...aside.map(
      (path) =>
        `The original's copied worktrees and files are in ${path}. Delete that directory once you no longer need it.`,
    ),
  ];
  return { id, notes };
}

function isOfOriginal({ workspace, run }: SessionState): boolean {
  return workspace.at !== "gone" || run.run !== "none";
}

/** By rename, so that nothing is lost and nothing is read: git would rewrite the original's registrations. */
function setAside(paths: Paths, id: string): string[] {
  const found = [paths.worktrees, paths.trash, paths.launches, paths.workers, paths.contained].filter((path) =>
    existsSync(path),
  );
  const targets = new Set<string>();
  for (const path of found) {
    const target = join(dirname(path), `copied-${id.slice(0, 8)}`);
    mkdirSync(target, { recursive: true, mode: 0o700 });
    renameSync(path, join(target, basename(path)));
    targets.add(target);
  }
  return [...targets];
}

/**
 * Where a home that has no identity yet was started last: builds before this one kept it in HOLDFAST_HOME/worktrees. Null
 * where the sessions name this home or nothing can be concluded.
 */
function inferred(store: Store, paths: Paths): Identity | null {
  if (paths.worktrees !== join(paths.home, "worktrees")) return null;
  const homes = store.sessions().flatMap(({ project, id, workspacePath }) => {
    const end = join("/worktrees", project, id);
    return workspacePath.endsWith(end) ? [realOf(workspacePath.slice(0, -end.length))] : [];
  });
  const last = homes.at(-1);
  const here = realpathSync(paths.home);
  if (last === undefined || homes.includes(here)) return null;
  return { id: "", path: last, worktrees: join(last, "worktrees") };
}

function readIdentity(store: Store): Identity | null {
  const text = store.getSetting(homeIdentitySetting);
  return text === null ? null : (JSON.parse(text) as Identity);
}

function keep(store: Store, identity: Identity): Promise<void> {
  return store.putSetting(homeIdentitySetting, JSON.stringify(identity));
}

/** A database that was removed or lost: the mark still names the directory, and agents that another home may supervise. */
function marked(paths: Paths, here: Omit<Identity, "id">): Identity | null {
  const mark = readMark(paths);
  if (mark?.path === undefined) return null;
  // Apart from the home the worktrees may be shared: then a copy is refused.
  const apart = paths.worktrees !== join(paths.home, "worktrees");
  return { id: mark.id, path: mark.path, worktrees: apart ? here.worktrees : join(mark.path, "worktrees") };
}

/**
 * The name of the tmux server, the id that its sessions carry and the directory, in a file: two spellings of one home, a
 * home that moved and one whose database was replaced by an older one find their agents again.
 */
function keepMark(paths: Paths, path: string, id = "", home = paths.home): string {
  const known = readMark(paths);
  if (known?.path === path) return known.id;
  const socket = known?.socket ?? socketNameFor(home);
  const mark = known?.id ?? (id === "" ? randomUUID() : id);
  makePrivateDirectory(dirname(paths.tmuxSocketName));
  writeAtomically(paths.tmuxSocketName, `${socket}\n${mark}\n${path}\n`);
  return mark;
}

interface Mark {
  socket: string;
  id: string;
  path?: string;
}

function readMark({ tmuxSocketName }: Paths): Mark | null {
  if (!existsSync(tmuxSocketName)) return null;
  const found = /^(holdfast-[0-9a-f]+)\n(\S+)\n(?:([^]+)\n)?$/.exec(readFileSync(tmuxSocketName, "utf8"));
  if (found === null) return null;
  const [, socket = "", id = "", path] = found;
  return { socket, id, ...(path === undefined ? {} : { path }) };
}

/** The path without links; what is not there yet is taken as it is written. */
function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
