/**
 * Refs as files, without a git process for each: bench/spawn.ts limits a spawn to 1.3 times `git worktree add`, and a move
 * to the trash to 20 ms. Only for repositories that store refs as plain files; git itself is asked in all other cases.
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeDurable } from "../../base/durable-file.ts";
import { withPersonalUmask } from "../../base/program.ts";
import { readLine } from "./git-files.ts";

export interface RefFiles {
  /** The content of a ref, normally a commit id. */
  read(ref: string): string | null;
  /** `below`: also true if there is a branch in a folder of that name. */
  hasBranch(name: string, below: boolean): boolean;
  remotes(): string[];
}

/** Tens of thousands of packed refs; reading more takes as long as a process. */
const maxPackedBytes = 2 * 1024 * 1024;

/** Null if refs are stored in another format, or are too many. */
export function openRefFiles(commonDir: string): RefFiles | null {
  if (existsSync(join(commonDir, "reftable"))) return null;
  const file = join(commonDir, "packed-refs");
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > maxPackedBytes) return null;
  const packed = size === 0 ? "" : readFileSync(file, "utf8");
  return {
    read: (ref) => readLine(join(commonDir, ref)) ?? findPacked(packed, ref),
    hasBranch: (name, below) => {
      const loose = statSync(join(commonDir, "refs/heads", name), { throwIfNoEntry: false });
      if (loose !== undefined && (below || loose.isFile())) return true;
      return packed.includes(` refs/heads/${name}\n`) || (below && packed.includes(` refs/heads/${name}/`));
    },
    remotes: () => {
      const names = [...packed.matchAll(/ refs\/remotes\/([^/\n]+)\//g)].map((match) => match[1]!);
      const loose = join(commonDir, "refs/remotes");
      return [...new Set([...names, ...(existsSync(loose) ? readdirSync(loose) : [])])];
    },
  };
}

/** Lines are `<object id> <ref>`. */
function findPacked(packed: string, ref: string): string | null {
  const at = packed.indexOf(` ${ref}\n`);
  return at < 0 ? null : packed.slice(packed.lastIndexOf("\n", at) + 1, at);
}

/** Writes a ref that only Holdfast writes. The caller knows that refs are plain files here, and that the commit exists. */
export function writeRef(commonDir: string, ref: string, commit: string): void {
  withPersonalUmask(() => {
    const file = join(commonDir, ref);
    mkdirSync(dirname(file), { recursive: true });
    writeDurable(file, `${commit}\n`, 0o666);
  });
}

/** The content of HEAD in a worktree whose refs are in a table. */
const inTable = ".invalid";

/** Detaches HEAD of an unused worktree from a branch at this commit. False if only git can. */
export function detachHead(admin: string, branch: string, commit: string, why: string, now: number): boolean {
  if (branch === inTable) return false;
  withPersonalUmask(() => {
    const log = join(admin, "logs", "HEAD");
    const who = `Holdfast <holdfast@localhost> ${Math.floor(now / 1000)} +0000`;
    if (existsSync(log)) appendFileSync(log, `${commit} ${commit} ${who}\t${why}\n`);
    writeDurable(join(admin, "HEAD"), `${commit}\n`, 0o666);
  });
  return true;
}
