/**
 * Takes over a contained agent's objects from its private folder into the repository. The agent can put anything there,
 * so each object is written again, and counts only if the result has the id it is named by; nothing in the repository
 * is ever replaced. Packs go through `git index-pack`, which computes every id itself.
 */
import { createHash } from "node:crypto";
import {
  constants,
  createWriteStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createDeflate, createInflate } from "node:zlib";
import { withPersonalUmask } from "../base/program.ts";

export interface GitRun {
  (
    kind: "read" | "write",
    args: readonly string[],
    call: { gitDir: string; inputFile?: number; deadlineMs?: number },
  ): Promise<{ code: number; stdout: string; stderr: string }>;
}

export interface TakeOver {
  /** The session's private object folder. */
  from: string;
  /** The repository's common directory. */
  common: string;
  /** Packs that are already taken over. */
  packs: Set<string>;
  /** Packs that git refused, by name, with the file's size and time. They are not retried. */
  refusedPacks: Map<string, string>;
  git: GitRun;
}

export interface Taken {
  objects: number;
  /** Files that were refused. */
  refused: string[];
}

/** git writes blobs, then trees, then commits, and refs last: a pass without new objects has seen all of them. */
const maxRounds = 8;
const packMs = 10 * 60_000;
/** A contained agent can create a file of any size from nothing. */
export const maxPackBytes = 2 * 1024 ** 3;

export async function takeOverObjects(request: TakeOver): Promise<Taken> {
  const taken: Taken = { objects: 0, refused: [] };
  const refused = new Set<string>();
  for (let round = 0; round < maxRounds; round += 1) {
    const before = taken.objects;
    // Another pack may have brought the missing objects.
    if (before > 0) request.refusedPacks.clear();
    for (const { path, id } of looseIn(request.from)) {
      if (refused.has(path) || existsSync(objectPath(request.common, id))) continue;
      if (await takeLoose(request.common, path, id)) taken.objects += 1;
      else refused.add(path);
    }
    for (const pack of packsIn(request.from)) {
      if (request.packs.has(basename(pack))) continue;
      const outcome = await takePack(request, pack);
      if (outcome === "known") continue;
      if (outcome === "taken") taken.objects += 1;
      if (outcome === "taken") refused.delete(pack);
      else refused.add(pack);
    }
    if (taken.objects === before) break;
  }
  return { ...taken, refused: [...refused] };
}

function objectPath(common: string, id: string): string {
  return join(common, "objects", id.slice(0, 2), id.slice(2));
}

function looseIn(from: string): { path: string; id: string }[] {
  return namesIn(from)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((folder) =>
      namesIn(join(from, folder))
        .filter((name) => /^([0-9a-f]{38}|[0-9a-f]{62})$/.test(name))
        .map((name) => ({ path: join(from, folder, name), id: folder + name })),
    );
}

function packsIn(from: string): string[] {
  const names = namesIn(join(from, "pack")).filter((name) => /^pack-[0-9a-f]{40,64}\.pack$/.test(name));
  return names.map((name) => join(from, "pack", name));
}

/** Empty if it is not a folder: the agent may have put a link there. */
function namesIn(folder: string): string[] {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder) : [];
  } catch {
    return [];
  }
}

async function takeLoose(common: string, path: string, id: string): Promise<boolean> {
  const target = objectPath(common, id);
  const folder = join(common, "objects", id.slice(0, 2));
  // A name that git itself cleans up if we crash here.
  const copy = join(folder, `tmp_obj_holdfast_${id.slice(2, 14)}_${process.pid}`);
  try {
    withPersonalUmask(() => mkdirSync(folder, { recursive: true }));
    if ((await rewrite(path, copy, id.length === 64 ? "sha256" : "sha1")) !== id) return false;
    if (!existsSync(target)) renameSync(copy, target);
    return true;
  } catch (error) {
    // A full disk is not the object's fault: retried later.
    if (ourFaults.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    return false;
  } finally {
    rmSync(copy, { force: true });
  }
}

const ourFaults = new Set(["ENOSPC", "EDQUOT", "EIO", "EROFS", "EMFILE", "ENFILE"]);

const header = /^(blob|tree|commit|tag) (0|[1-9]\d{0,15})$/;
/** Longer than any header. */
const headerBytes = 64;

/**
 * Rewrites a loose object's content and returns the id it really has; null if it is not an object. Only counted bytes
 * are written: the agent may change or extend its file meanwhile.
 */
async function rewrite(path: string, to: string, algorithm: "sha1" | "sha256"): Promise<string | null> {
  const hash = createHash(algorithm);
  let head = Buffer.alloc(0);
  let size: number | null = null;
  let bytes = 0;
  async function* checked(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      bytes += chunk.length;
      if (size === null) {
        head = Buffer.concat([head, chunk.subarray(0, headerBytes)]);
        const end = head.indexOf(0);
        const match = end < 0 ? null : header.exec(head.toString("latin1", 0, end));
        if (match === null && (end >= 0 || head.length >= headerBytes)) throw new Error("not an object");
        if (match !== null) size = end + 1 + Number(match[2]);
      }
      if (size !== null && bytes > size) throw new Error("longer than declared");
      yield chunk;
    }
  }
  const source = await openPlain(path);
  const target = createWriteStream(to, { mode: 0o444, flush: true });
  await pipeline(source.createReadStream(), createInflate(), checked, createDeflate({ level: 1 }), target);
  return size === bytes ? hash.digest("hex") : null;
}

/** Follows no link, and waits for no pipe. */
async function openPlain(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new Error(`${path} is not a file`);
}

/** git's messages about a bad pack; a full disk is not the pack's fault, and it is retried. */
const packFault =
  /pack (signature|version|too large|exceeds|has|is corrupted)|early EOF|inflate|delta|collision|child objects|(bad|invalid|expected|packed|unknown) object|object of unexpected|fsck/i;

async function takePack(
  { common, packs, refusedPacks, git }: TakeOver,
  path: string,
): Promise<"taken" | "refused" | "known"> {
  const name = basename(path);
  const file = await openPlain(path).catch(() => null);
  if (file === null) return "refused";
  try {
    const { size, mtimeMs } = await file.stat();
    const stamp = `${size} ${mtimeMs}`;
    if (refusedPacks.get(name) === stamp) return "known";
    if (size > maxPackBytes) {
      refusedPacks.set(name, stamp);
      return "refused";
    }
    // The limit again, for a file that grows meanwhile.
    const args = ["index-pack", "--stdin", "--strict", `--max-input-size=${maxPackBytes}`];
    const answer = await git("write", args, { gitDir: common, inputFile: file.fd, deadlineMs: packMs });
    if (answer.code === 0) packs.add(name);
    else if (packFault.test(answer.stderr)) refusedPacks.set(name, stamp);
    return answer.code === 0 ? "taken" : "refused";
  } finally {
    await file.close();
  }
}
