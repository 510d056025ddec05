/**
 * What a contained agent did to the repository, taken over from outside: its objects, then its branches, then what git
 * needs of its worktree. The agent writes to folders of its own, so that the repository never has a ref without its commits,
 * whatever the agent puts there and however long no daemon runs.
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
  readFileSync,
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
  type GitPaths,
} from "./git-mounts.ts";
import { takeOverObjects, type GitRun } from "./objects.ts";

const id = /^([0-9a-f]{40}|[0-9a-f]{64})\n?$/;
const part = /^[A-Za-z0-9_][\w.+@-]*$/;

/** Ids by name in the folder. Not below it: what is written there later must not follow a link in between. */
function refsIn(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name } of entriesOf(folder).filter((entry) => entry.isFile())) {
    if (!part.test(name) || name.includes("..") || /(\.lock|\.)$/.test(name)) continue;
    const tip = id.exec(firstBytes(join(folder, name)) ?? "")?.[1];
    if (tip !== undefined) found.set(name, tip);
  }
  return found;
}

/** Branches of the repository in a folder of `refs/heads`, packed ones included. */
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

function packedRefs(common: string): string {
  try {
    return readFileSync(join(common, "packed-refs"), "utf8");
  } catch {
    return "";
  }
}

/** Of a plain file; null where it is none, or not there. */
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

/** Kept in the session's folder, where nobody inside can write it. */
interface RepositoryRecord extends GitPaths {
  branch: string;
  /** Packs that were taken over already. */
  packs?: string[];
  /** Packs that were refused, with their size and time. */
  refusedPacks?: Record<string, string>;
  /** Where each branch of the session's folder was when both sides last agreed. */
  agreed?: Record<string, string>;
}

const repositoryFile = "repository.json";

function readRepository(own: string): RepositoryRecord | null {
  const read = readJson(join(own, repositoryFile));
  const value = read.is === "known" ? (read.value as Partial<RepositoryRecord> | null) : null;
  const whole = [value?.common, value?.admin, value?.branch].every((part) => typeof part === "string");
  return whole ? (value as RepositoryRecord) : null;
}

function writeRepository(own: string, record: RepositoryRecord): void {
  writeAtomically(join(own, repositoryFile), `${JSON.stringify(record)}\n`);
}

/** Before a launch: the agent's own folder has every branch that the repository has there. */
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

/** What could not be taken over, in words for the log. */
export async function takeOver(own: string, session: string, git: GitRun): Promise<string[]> {
  const record = readRepository(own);
  if (record === null || !existsSync(join(record.common, "objects"))) return [];
  dropLinks(record.admin);
  const packs = new Set(record.packs);
  const refusedPacks = new Map(Object.entries(record.refusedPacks ?? {}));
  const from = privateObjects(own).objects;
  const { refused } = await takeOverObjects({ from, common: record.common, packs, refusedPacks, git });
  const { agreed, troubles } = await takeOverRefs(own, record, session, git);
  const now = { ...record, packs: [...packs], refusedPacks: Object.fromEntries(refusedPacks), agreed };
  if (JSON.stringify(now) !== JSON.stringify(record)) writeRepository(own, now);
  await repair(record, git);
  return [...refused.map((path) => `${path} is not an object of git`), ...troubles];
}

interface TakenRefs {
  agreed: Record<string, string>;
  troubles: string[];
}

async function takeOverRefs(own: string, record: RepositoryRecord, session: string, git: GitRun): Promise<TakenRefs> {
  const { common: gitDir, branch } = record;
  const agreed = { ...record.agreed };
  const troubles: string[] = [];
  const { refs } = privateRefs(own);
  const outside = repositoryRefs(gitDir, folderOf(branch));
  for (const [name, tip] of refsIn(refs)) {
    const [real, last] = [outside.get(name), agreed[name]];
    const ref = `refs/heads/${folderOf(branch)}/${name}`;
    if (tip === real) agreed[name] = tip;
    else if (real !== last && tip === last && real !== undefined) {
      // Moved outside, and not inside: the agent is to see that.
      if (existsSync(join(refs, `${name}.lock`))) continue;
      writeAtomically(join(refs, name), `${real}\n`, 0o644);
      agreed[name] = real;
    } else if (!(await isWhole(gitDir, tip, git))) {
      troubles.push(`${ref}: ${tip} is not a commit with all that belongs to it`);
    } else if (real !== last) {
      // Moved on both sides: neither is lost, and the person's counts.
      await git("store", ["update-ref", "--no-deref", `${pinsOf(session)}/${name}`, tip], { gitDir });
      troubles.push(`${ref} was changed outside as well; the agent's is kept as ${pinsOf(session)}/${name}`);
    } else {
      const answer = await git("store", ["update-ref", "-m", "holdfast: taken over", ref, tip, real ?? ""], { gitDir });
      if (answer.code === 0) agreed[name] = tip;
      else troubles.push(`${ref}: ${answer.stderr.trim()}`);
    }
  }
  return { agreed, troubles };
}

const pinsOf = (session: string): string => `refs/holdfast/contained/${session}`;

/** A ref to a commit that lacks something would break git for the person. */
async function isWhole(gitDir: string, tip: string, git: GitRun): Promise<boolean> {
  const isCommit = await git("look", ["cat-file", "-e", `${tip}^{commit}`], { gitDir });
  if (isCommit.code !== 0) return false;
  const walk = await git("look", ["rev-list", "--objects", "--quiet", tip, "--not", "--all"], {
    gitDir,
    deadlineMs: walkMs,
  });
  return walk.code === 0;
}

const walkMs = 5 * 60_000;

/** Puts back what `rm -rf` inside took of the worktree's git directory, as far as git cannot do without it. */
async function repair({ common, admin, branch }: RepositoryRecord, git: GitRun): Promise<void> {
  if (!existsSync(admin)) return;
  const ref = `refs/heads/${branch}`;
  const headFile = join(admin, "HEAD");
  // Exclusive: no link is followed that was put in its place.
  if (!isThere(headFile)) writeFileSync(headFile, `ref: ${ref}\n`, { flag: "wx" });
  const isBorn = existsSync(join(common, ref)) || packedRefs(common).includes(` ${ref}\n`);
  const onBranch = firstBytes(headFile)?.trim() === `ref: ${ref}`;
  if (!isThere(join(admin, "index")) && isBorn && onBranch)
    await git("store", ["read-tree", "HEAD"], { gitDir: admin });
}

/** git puts no link into a worktree's git directory; whatever writes there later would follow one of the agent's. */
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

/** What a deleted session leaves in the repository. */
export async function forgetRepository(own: string, session: string, git: GitRun): Promise<void> {
  const record = readRepository(own);
  if (record === null) return;
  const { common: gitDir, branch } = record;
  for (const folder of Object.values(branchFolders(gitDir, branch))) {
    rmSync(join(folder, keepName), { force: true });
    for (const empty of [folder, dirname(folder)]) removeEmpty(empty);
  }
  for (const name of refsIn(join(gitDir, pinsOf(session))).keys()) {
    await git("store", ["update-ref", "--no-deref", "-d", `${pinsOf(session)}/${name}`], { gitDir });
  }
}

function removeEmpty(folder: string): void {
  if (folder.endsWith("/refs/heads")) return;
  try {
    rmdirSync(folder);
  } catch {
    // The branch is still there, or another one.
  }
}
