/** Refs read from files that an agent may have written: a link, a pipe or a ref that names another one is none. */
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";

const id = /^([0-9a-f]{40}|[0-9a-f]{64})\n?$/;
const part = /^[A-Za-z0-9_][\w.+@-]*$/;

/** Ids by name in the folder. Not below it: what is written there later must not follow a link in between. */
export function refsIn(folder: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const { name } of entriesOf(folder).filter((entry) => entry.isFile())) {
    if (!part.test(name) || name.includes("..") || /(\.lock|\.)$/.test(name)) continue;
    const tip = id.exec(firstBytes(join(folder, name)) ?? "")?.[1];
    if (tip !== undefined) found.set(name, tip);
  }
  return found;
}

/** Branches of the repository in a folder of `refs/heads`, packed ones included. */
export function repositoryRefs(common: string, folder: string): Map<string, string> {
  const prefix = `refs/heads/${folder}/`;
  const packed = packedRefs(common)
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([tip = "", name = ""]) => id.test(tip) && name.startsWith(prefix))
    .map(([tip, name]): [string, string] => [name!.slice(prefix.length), tip!])
    .filter(([name]) => part.test(name));
  return new Map([...packed, ...refsIn(join(common, prefix))]);
}

export function packedRefs(common: string): string {
  try {
    return readFileSync(join(common, "packed-refs"), "utf8");
  } catch {
    return "";
  }
}

/** Of a plain file; null where it is none, or not there. */
export function firstBytes(path: string): string | null {
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
