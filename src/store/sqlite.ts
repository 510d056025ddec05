/** One connection: its settings, prepared statements and transactions. */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { HoldfastError } from "../contract/errors.ts";

/** Older versions can corrupt a WAL database when two connections write [STORE-23]. */
const oldestSqlite = "3.51.3";

/** The sqlite3 tool may lock the file for a moment; without this SQLite gives up immediately. */
const busyTimeoutMs = 5000;

/** After a burst (a prompt may be 32 MiB) the log is truncated to this. */
const keptWalBytes = 16 * 1024 * 1024;
const cacheKib = 16 * 1024;

export class Sqlite {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #maxPages: (() => number) | undefined;

  /** `maxPages` simulates a disk that fills up, for tests: called before each transaction. */
  constructor(path: string | URL, maxPages?: () => number, readOnly = false) {
    this.#maxPages = maxPages;
    this.#db = new DatabaseSync(path, { timeout: busyTimeoutMs, enableForeignKeyConstraints: true, readOnly });
  }

  configure(): void {
    this.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA journal_size_limit = ${keptWalBytes};
      PRAGMA cache_size = -${cacheKib};
      PRAGMA temp_store = MEMORY;
    `);
    // On a read-only disk everything so far succeeds: fail at the start rather than at the first kill.
    this.transaction(() => {});
  }

  statement(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  exec(sql: string): void {
    this.#db.exec(sql);
  }

  pragma(name: string): unknown {
    const row = this.#db.prepare(`PRAGMA ${name}`).get();
    return row === undefined ? undefined : Object.values(row)[0];
  }

  /** All or nothing: an exception rolls back. */
  transaction(write: () => void): void {
    if (this.#maxPages !== undefined) this.exec(`PRAGMA max_page_count = ${this.#maxPages()}`);
    this.statement("BEGIN IMMEDIATE").run();
    try {
      write();
      this.statement("COMMIT").run();
    } catch (error) {
      // A full disk and some I/O errors have already rolled back.
      if (this.#db.isTransaction) this.statement("ROLLBACK").run();
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#db.close();
  }
}

export function requireSqliteVersion(version = process.versions["sqlite"] ?? "0"): void {
  if (compare(version, oldestSqlite) >= 0) return;
  throw new HoldfastError("storage", `This Node has SQLite ${version}; Holdfast needs ${oldestSqlite} or newer.`, {
    hint: "Older versions can damage the database. Run Holdfast with its bundled Node.",
  });
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(".").map(Number));
  for (let i = 0; i < 3; i++) {
    const difference = (left?.[i] ?? 0) - (right?.[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
