/**
 * Events are numbered twice: `cursor` orders all of them and is never reused (hence AUTOINCREMENT), `seq` counts one
 * session's own. `sessions.state` is the result of reducing a session's events, null once a deleted session is purged.
 * Events have no foreign key: the lookup takes a quarter of the insert rate, and verify() finds orphans.
 */
export const first = `
  CREATE TABLE sessions (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    deleted INTEGER NOT NULL DEFAULT 0,
    state TEXT,
    crc INTEGER
  ) STRICT;

  CREATE TABLE events (
    cursor INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    crc INTEGER NOT NULL,
    UNIQUE (session, seq)
  ) STRICT;

  CREATE TABLE prompts (
    session TEXT NOT NULL REFERENCES sessions (id),
    prompt_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (session, prompt_id)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE counters (
    prefix TEXT NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE projects (
    id TEXT NOT NULL PRIMARY KEY,
    path TEXT NOT NULL,
    prefix TEXT NOT NULL,
    config_file TEXT,
    added_at INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE settings (
    key TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
`;
