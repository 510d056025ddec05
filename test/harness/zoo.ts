/** A worktree with every kind of work in it, and a fingerprint of every byte and mode to compare later. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Home } from "./home.ts";

export async function fillZoo(home: Home, path: string): Promise<void> {
  const write = (name: string, text: string | Buffer, mode?: number): void => {
    writeFileSync(join(path, name), text);
    if (mode !== undefined) chmodSync(join(path, name), mode);
  };
  write("committed.txt", "unpushed\n");
  await home.git(path, ["add", "committed.txt"]);
  await home.git(path, ["commit", "-q", "-m", "work that no other branch has"]);
  write(".gitignore", "ignored.log\n");
  write("staged.txt", "staged\n");
  await home.git(path, ["add", "staged.txt", ".gitignore"]);
  write("README.md", "changed, not staged\n");
  write("untracked.txt", "untracked\n");
  write("ignored.log", "ignored\n");
  write("run.sh", "#!/bin/sh\n", 0o755);
  write("secret.key", "private\n", 0o600);
  symlinkSync("untracked.txt", join(path, "link"));
  write("new\nline.txt", "odd name\n");
  write("crlf.txt", "one\r\ntwo\r\n");
  write("large.bin", Buffer.alloc(5 * 1024 * 1024, "0123456789abcdef"));
  mkdirSync(join(path, "nested"));
  writeFileSync(join(path, "nested", "inner.txt"), "inner\n");
  await home.git(join(path, "nested"), ["init", "-q"]);
  await home.git(join(path, "nested"), ["add", "-A"]);
  await home.git(join(path, "nested"), ["commit", "-q", "-m", "a repository of its own"]);
  mkdirSync(join(path, "empty"));
}

/** One line per file: its mode and the digest of its bytes. Git's own administrative link is left out. */
export function fingerprint(path: string): string[] {
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => name !== ".git")
    .toSorted()
    .map((name) => {
      const stat = lstatSync(join(path, name));
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isSymbolicLink()) return `${JSON.stringify(name)} -> ${readlinkSync(join(path, name))}`;
      if (stat.isDirectory()) return `${JSON.stringify(name)}/ ${mode}`;
      return `${JSON.stringify(name)} ${mode} ${createHash("sha256")
        .update(readFileSync(join(path, name)))
        .digest("hex")
        .slice(0, 16)}`;
    });
}

/** Git's view of it: index, changes and HEAD. */
export async function gitState(home: Home, path: string): Promise<string> {
  return [
    await home.git(path, ["status", "--porcelain=v2", "--ignored", "--branch"]),
    await home.git(path, ["diff", "--cached"]),
    await home.git(path, ["rev-parse", "HEAD"]),
  ].join("\n");
}
