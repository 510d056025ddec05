/**
 * Saved transcripts: the reduced events, as far as they were reduced. A cache, discarded if anything about it is
 * unexpected. And the bytes of prompts' attachments, which events only name. Both may be large, hence the row ids.
 */
export const transcripts = `
  CREATE TABLE transcripts (
    session TEXT NOT NULL PRIMARY KEY,
    format INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    saved TEXT NOT NULL,
    crc INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE transcript_items (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    body TEXT NOT NULL,
    crc INTEGER NOT NULL,
    UNIQUE (session, seq)
  ) STRICT;

  CREATE TABLE prompt_attachments (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    prompt_id TEXT NOT NULL,
    n INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    UNIQUE (session, prompt_id, n)
  ) STRICT;
`;
