/**
 * Unpacks the home in `test/fixtures/home-0.1.tar.gz`, made by version 0.1 before its redesign, into a test's directory. Paths in it
 * are written as `@DIRECTORY@`; what 0.1 derived from paths (checksums, names of records) is computed here as 0.1 did it.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import type { Home } from "./home.ts";

const archive = join(import.meta.dirname, "../fixtures/home-0.1.tar.gz");
const placeholder = "@DIRECTORY@";

export function unpackHomeBefore(home: Home): void {
  const { directory } = home;
  const tmuxSocket = home.paths.tmuxSocket;
  execFileSync("tar", ["-xzf", archive, "-C", directory]);
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const file = join(directory, name);
    if (!statSync(file).isFile() || /\/objects\/[0-9a-f]{2}\//.test(file)) continue;
    const text = readFileSync(file, "utf8");
    if (text.includes(placeholder)) writeFileSync(file, text.replaceAll(placeholder, directory));
  }
  const records = join(home.home, "worktrees/.records");
  for (const name of readdirSync(records)) {
    const { path } = JSON.parse(readFileSync(join(records, name), "utf8")) as { path: string };
    const digest = createHash("sha256").update(path).digest("hex").slice(0, 32);
    renameSync(join(records, name), join(records, `${digest}.json`));
  }
  const socketName = join(home.home, "tmux/socket-name");
  writeFileSync(socketName, readFileSync(socketName, "utf8").replace(/^.*\n/, `${tmuxSocket}\n`));
  const sql = join(directory, "database.sql");
  fillDatabase(join(home.home, "holdfast.db"), readFileSync(sql, "utf8"));
  rmSync(sql);
}

function fillDatabase(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.function("checksum", (text) => crc32(String(text)));
  database.exec(sql);
  database.exec(`
    UPDATE events SET crc = checksum(session || ' ' || seq || ' ' || at || ' ' || type || ' ' || body);
    UPDATE sessions SET crc = checksum(id || ' ' || state) WHERE crc IS NOT NULL;
    UPDATE transcripts SET crc = checksum(session || ' ' || seq || ' ' || saved);
    UPDATE transcript_items SET crc = checksum(session || ' ' || seq || ' ' || body);
  `);
  database.close();
}
