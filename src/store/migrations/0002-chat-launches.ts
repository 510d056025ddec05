/**
 * A chat launch's offsets in its two files, and the lines it was sent. Offsets change with every read of an agent's
 * output, in the same transaction as the events; an outbox row may have 32 MiB, hence the row id.
 */
export const chatLaunches = `
  CREATE TABLE launches (
    launch TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    in_end INTEGER NOT NULL,
    out_read INTEGER NOT NULL,
    fence TEXT,
    info TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX launches_of_session ON launches (session);

  CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    launch TEXT NOT NULL,
    key TEXT NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    text TEXT,
    crc INTEGER NOT NULL,
    answer TEXT,
    UNIQUE (launch, key),
    UNIQUE (launch, offset)
  ) STRICT;
`;
