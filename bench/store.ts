/**
 * Event rows per second that the store commits at synchronous FULL, against a floor measured in turns in the same run:
 * bare inserts of the same bodies by node:sqlite. Also the time to open a home with 500 sessions.
 * One JSON line per figure; about ten seconds.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { FactEvent } from "../src/contract/event.ts";
import { asProjectId, asSessionId, type SessionId } from "../src/contract/ids.ts";
import type { Store } from "../src/ports/store.ts";
import { openStore } from "../src/store/open.ts";

const rounds = 5;
const roundMs = 200;
/** The product's goal for rows committed in one batch per tick. */
const goalRowsPerSecond = 60_000;
const body = "x".repeat(285);
const event: FactEvent = { type: "workspace.output", text: body };
const directory = mkdtempSync(join(tmpdir(), "holdfast-bench-store-"));

try {
  for (const batch of [100, 1000]) await measureAppends(batch);
  await measureOpening(500);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

async function measureAppends(batch: number): Promise<void> {
  const store = open(`store-${batch}.db`);
  const sessions = Array.from({ length: 10 }, (_, i) => asSessionId(`ma-${i + 1}`));
  await Promise.all(sessions.map((id) => create(store, id)));
  const floor = openFloor(`floor-${batch}.db`);
  const rates: Record<"floor" | "one-session" | "ten-sessions" | "a-change-each", number[]> = {
    floor: [],
    "one-session": [],
    "ten-sessions": [],
    "a-change-each": [],
  };
  const events = (count: number): FactEvent[] => Array.from({ length: count }, () => event);
  for (let round = 0; round < rounds; round++) {
    rates.floor.push(await rate(batch, () => floor.append(batch)));
    rates["one-session"].push(await rate(batch, () => store.commit(sessions[0]!, () => events(batch))));
    rates["ten-sessions"].push(
      await rate(batch, () => Promise.all(sessions.map((id) => store.commit(id, () => events(batch / 10))))),
    );
    rates["a-change-each"].push(
      await rate(batch, () =>
        Promise.all(Array.from({ length: batch }, (_, i) => store.commit(sessions[i % 10]!, () => [event]))),
      ),
    );
  }
  store.close();
  floor.close();
  const bare = median(rates.floor);
  for (const [name, values] of Object.entries(rates)) {
    const rowsPerSecond = Math.round(median(values));
    const spread = [Math.min(...values), Math.max(...values)].map(Math.round);
    const ratio = Number((rowsPerSecond / bare).toFixed(2));
    const verdict =
      name === "floor" ? {} : { ofFloor: ratio, goal: goalRowsPerSecond, met: rowsPerSecond >= goalRowsPerSecond };
    print({ bench: "store.append", what: name, batch, rowsPerSecond, spread, ...verdict });
  }
}

async function measureOpening(count: number): Promise<void> {
  const name = "open.db";
  const store = open(name);
  const ids = Array.from({ length: count }, (_, i) => asSessionId(`ma-${i + 1}`));
  await Promise.all(ids.map((id) => create(store, id)));
  await Promise.all(ids.map((id) => store.commit(id, () => Array.from({ length: 20 }, () => event))));
  store.close();
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    const again = open(name);
    if (again.sessions().length !== count) throw new Error("not every session was loaded");
    times.push(performance.now() - start);
    again.close();
  }
  const [ms, ...spread] = [median(times), Math.min(...times), Math.max(...times)].map((time) =>
    Number(time.toFixed(2)),
  );
  print({ bench: "store.open", sessions: count, ms, spread });
}

function open(name: string): Store {
  const path = join(directory, name);
  return openStore({
    path,
    backupsDirectory: join(directory, "backups"),
    reservePath: `${path}.reserve`,
    now: Date.now,
  });
}

function openFloor(name: string): { append(rows: number): void; close(): void } {
  const db = new DatabaseSync(join(directory, name));
  db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
  db.exec("CREATE TABLE events (session TEXT, seq INTEGER, body TEXT, PRIMARY KEY (session, seq)) WITHOUT ROWID");
  const [begin, commit] = [db.prepare("BEGIN IMMEDIATE"), db.prepare("COMMIT")];
  const insert = db.prepare("INSERT INTO events VALUES ('ma-1', ?, ?)");
  const text = JSON.stringify({ text: body });
  let seq = 0;
  return {
    append(rows) {
      begin.run();
      for (let i = 0; i < rows; i++) insert.run(++seq, text);
      commit.run();
    },
    close: () => db.close(),
  };
}

async function rate(rows: number, append: () => unknown): Promise<number> {
  let written = 0;
  const start = performance.now();
  let elapsed = 0;
  while (elapsed < roundMs) {
    await append();
    written += rows;
    elapsed = performance.now() - start;
  }
  return (written / elapsed) * 1000;
}

function create(store: Store, id: SessionId): Promise<unknown> {
  const names = { id, project: asProjectId("app"), agent: "demo", title: id, issue: null, by: "person" };
  const place = { branch: id, branchCreated: true, base: "main", workspacePath: `/worktrees/${id}` };
  return store.create({ type: "session.created", kind: "terminal", role: "worker", ...names, ...place });
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function print(figure: Record<string, unknown>): void {
  process.stdout.write(`${JSON.stringify(figure)}\n`);
}
