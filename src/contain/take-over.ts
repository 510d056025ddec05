/**
 * Takes over a contained agent's work from outside: its objects, then its branches, then what git needs of its
 * worktree. The agent writes to its own folders, so the repository never has a ref without its commits, whatever the
 * agent puts there and however long no daemon runs.
 */
import {
  existsSync,
  lstatSync,
  readdirSync,
  rmdirSync,
  rmSync,
  writeFileSync,
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { readJson, writeAtomically } from "../base/durable-file.ts";
import {
  branchFolders,
  folderOf,
  keepName,
  makePrivate,
  privateObjects,
  privateRefs,
  textOf,
  type GitPaths,
} from "./git-mounts.ts";
import { takeOverObjects, type GitRun } from "./objects.ts";

const id = /^([0-9a-f]{40}|[0-9a-f]{64})\n?$/;
const part = /^[A-Za-z0-9_][\w.+@-]*$/;

/**
 * Ids by name, from files that an agent may have written: links, pipes and symbolic refs are skipped. Not recursive: a
 * later write must not follow a link in between.
 */
function refsIn(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name } of entriesOf(folder).filter((entry) => entry.isFile())) {
    if (!part.test(name) || name.includes("..") || /(\.lock|\.)$/.test(name)) continue;
    const tip = id.exec(firstBytes(join(folder, name)) ?? "")?.[1];
    if (tip !== undefined) found.set(name, tip);
  }
  return found;
}

/** The repository's branches in a folder of `refs/heads`, including packed ones. */
function repositoryRefs(common: string, folder: string): Map<string, string> {
  const prefix = `refs/heads/${folder}/`;
  const packed = packedRefs(common)
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([tip = "", name = ""]) => id.test(tip) && name.startsWith(prefix))
    .map(([tip, name]): [string, string] => [name!.slice(prefix.length), tip!])
    .filter(([name]) => part.test(name));
  return new Map([...packed, ...refsIn(join(common, prefix))]);
}

const packedRefs = (common: string): string => `${textOf(join(common, "packed-refs")) ?? ""}\n`;

/** The start of a regular file; null if missing. */
function firstBytes(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    if (!fstatSync(file).isFile()) return null;
    const buffer = Buffer.alloc(512);
    return buffer.toString("latin1", 0, readSync(file, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(file);
  }
}

function entriesOf(folder: string): { name: string; isDirectory(): boolean; isFile(): boolean }[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** In the session's folder, where the agent cannot write. */
interface RepositoryRecord extends GitPaths {
  branch: string;
  /** Packs that are already taken over. */
  packs?: string[];
  /** Refused packs, with their size and time. */
  refusedPacks?: Record<string, string>;
  /** Each branch's commit when both sides last agreed. */
  agreed?: Record<string, string>;
}

const repositoryFile = "repository.json";

function readRepository(own: string): RepositoryRecord | null {
  const read = readJson(join(own, repositoryFile));
  const value = read.is === "known" ? (read.value as Partial<RepositoryRecord> | null) : null;
  const isComplete = [value?.common, value?.admin, value?.branch].every((part) => typeof part === "string");
  return isComplete ? (value as RepositoryRecord) : null;
}

function writeRepository(own: string, record: RepositoryRecord): void {
  writeAtomically(join(own, repositoryFile), `${JSON.stringify(record)}\n`);
}

/** Before a launch: copies every branch of the repository's folder into the agent's own folder. */
export function recordRepository(own: string, paths: GitPaths, branch: string): void {
  makePrivate(own);
  const known = readRepository(own);
  const agreed = { ...known?.agreed };
  const { refs } = privateRefs(own);
  const inside = refsIn(refs);
  for (const [name, tip] of repositoryRefs(paths.common, folderOf(branch))) {
    if (inside.has(name)) continue;
    writeAtomically(join(refs, name), `${tip}\n`, 0o644);
    agreed[name] = tip;
  }
  writeRepository(own, { ...known, ...paths, branch, agreed });
}

/** What could not be taken over, for the log. */
export async function takeOver(own: string, session: string, git: GitRun): Promise<string[]> {
  const record = readRepository(own);
  if (record === null || !existsSync(join(record.common, "objects"))) return [];
  dropLinks(record.admin);
  const packs = new Set(record.packs);
  const refusedPacks = new Map(Object.entries(record.refusedPacks ?? {}));
  const from = privateObjects(own).objects;
  const { refused } = await takeOverObjects({ from, common: record.common, packs, refusedPacks, git });
  const { agreed, problems } = await takeOverRefs(own, record, session, git);
  const now = { ...record, packs: [...packs], refusedPacks: Object.fromEntries(refusedPacks), agreed };
  if (JSON.stringify(now) !== JSON.stringify(record)) writeRepository(own, now);
  await repair(record, git);
  return [...refused.map((path) => `${path} is not a git object`), ...problems];
}

interface TakenRefs {
  agreed: Record<string, string>;
  problems: string[];
}

async function takeOverRefs(own: string, record: RepositoryRecord, session: string, git: GitRun): Promise<TakenRefs> {
  const { common: gitDir, branch } = record;
  const agreed = { ...record.agreed };
  const problems: string[] = [];
  const { refs } = privateRefs(own);
  const outside = repositoryRefs(gitDir, folderOf(branch));
  for (const [name, tip] of refsIn(refs)) {
    const [real, last] = [outside.get(name), agreed[name]];
    const ref = `refs/heads/${folderOf(branch)}/${name}`;
    if (tip === real) agreed[name] = tip;
    else if (real !== last && tip === last && real !== undefined) {
      // Moved outside, not inside: the agent should see it.
      if (existsSync(join(refs, `${name}.lock`))) continue;
      writeAtomically(join(refs, name), `${real}\n`, 0o644);
      agreed[name] = real;
    } else if (!(await isWhole(gitDir, tip, git))) {
      problems.push(`${ref}: ${tip} is not a complete commit`);
    } else if (real !== last) {
      // Moved on both sides: neither is lost, and yours wins.
      await git("write", ["update-ref", "--no-deref", `${pinsOf(session)}/${name}`, tip], { gitDir });
      problems.push(`${ref} was also changed outside; the agent's commit is kept as ${pinsOf(session)}/${name}`);
    } else {
      const answer = await git("write", ["update-ref", "-m", "holdfast: taken over", ref, tip, real ?? ""], { gitDir });
      if (answer.code === 0) agreed[name] = tip;
      else problems.push(`${ref}: ${answer.stderr.trim()}`);
    }
  }
  return { agreed, problems };
}

const pinsOf = (session: string): string => `refs/holdfast/contained/${session}`;

/** A ref to an incomplete commit would break your git. */
async function isWhole(gitDir: string, tip: string, git: GitRun): Promise<boolean> {
  const isCommit = await git("read", ["cat-file", "-e", `${tip}^{commit}`], { gitDir });
  if (isCommit.code !== 0) return false;
  const walk = await git("read", ["rev-list", "--objects", "--quiet", tip, "--not", "--all"], {
    gitDir,
    deadlineMs: walkMs,
  });
  return walk.code === 0;
}

const walkMs = 5 * 60_000;

/** Restores what an `rm -rf` inside removed from the worktree's git directory, as far as git needs it. */
async function repair({ common, admin, branch }: RepositoryRecord, git: GitRun): Promise<void> {
  if (!existsSync(admin)) return;
  const ref = `refs/heads/${branch}`;
  const headFile = join(admin, "HEAD");
  // Exclusive: never follows a link.
  if (!isThere(headFile)) writeFileSync(headFile, `ref: ${ref}\n`, { flag: "wx" });
  const isBorn = existsSync(join(common, ref)) || packedRefs(common).includes(` ${ref}\n`);
  const onBranch = firstBytes(headFile)?.trim() === `ref: ${ref}`;
  if (!isThere(join(admin, "index")) && isBorn && onBranch)
    await git("write", ["read-tree", "HEAD"], { gitDir: admin });
}

/** git has no links in a worktree's git directory; later writes would follow one of the agent's. */
function dropLinks(folder: string, depth = 0): void {
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && depth < maxLinkDepth) dropLinks(path, depth + 1);
    else if (!entry.isDirectory() && !entry.isFile()) rmSync(path, { force: true });
  }
}

/** `logs/refs/bisect/bad`, and a rebase's folder. */
const maxLinkDepth = 4;

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Removes what a deleted session left in the repository. */
export async function forgetRepository(own: string, session: string, git: GitRun): Promise<void> {
  const record = readRepository(own);
  if (record === null) return;
  const { common: gitDir, branch } = record;
  for (const folder of Object.values(branchFolders(gitDir, branch))) {
    rmSync(join(folder, keepName), { force: true });
    for (const empty of [folder, dirname(folder)]) removeEmpty(empty);
  }
  for (const name of refsIn(join(gitDir, pinsOf(session))).keys()) {
    await git("write", ["update-ref", "--no-deref", "-d", `${pinsOf(session)}/${name}`], { gitDir });
  }
}

function removeEmpty(folder: string): void {
  if (folder.endsWith("/refs/heads")) return;
  try {
    rmdirSync(folder);
  } catch {
    // The branch still exists, or another one does.
  }
}
