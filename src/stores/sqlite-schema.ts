/** 'Enti', so that no other program's database is taken for one of ours. */
export const applicationId = 0x456e7469

/**
 * How far each transcript was when its last append began, where the lines lie that can be found, and their words. The
 * lines themselves are in none of these tables. The words are kept whole: without them, what is removed would still count
 * when lines are ranked.
 */
export const transcriptTables = `
  CREATE TABLE transcripts (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, lines INTEGER NOT NULL, bytes INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE transcript_lines (
    id INTEGER PRIMARY KEY, transcript INTEGER NOT NULL, line INTEGER NOT NULL, start_byte INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL, UNIQUE (transcript, line)
  ) STRICT;
  CREATE VIRTUAL TABLE transcript_words USING fts5(searchable, tokenize = 'unicode61 remove_diacritics 2');
`

/**
 * What makes each schema version of the one before it. World 0 is the root; it is entered when the database is made.
 * Names are encoded, since not every string is UTF-8. The tables have row ids: without them the lines would lie in the
 * index, and each search in it would read whole lines.
 */
export const schemaSteps = [
  `
  CREATE TABLE worlds (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE rows (
    world INTEGER NOT NULL, tick INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (world, tick)
  ) STRICT;
  CREATE TABLE snapshots (
    world INTEGER NOT NULL, tick INTEGER NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL,
    PRIMARY KEY (world, tick, seq)
  ) STRICT;
  PRAGMA application_id = ${applicationId};
  `,
  'CREATE TABLE texts (key TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL) STRICT',
  transcriptTables,
]
