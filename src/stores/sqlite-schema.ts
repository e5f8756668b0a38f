/** 'Enti', so that no other program's database is taken for one of ours. */
export const applicationId = 0x456e7469

/** Of a new database. A database keeps the page size that it was made with. */
export const newPageSizeBytes = 1024

/**
 * One row per committed tick. `place` holds the world's id and the tick, so that a commit writes one B-tree, without an
 * index beside it. `world` and `tick` are computed from it and take no room. `busy` says whether the world had work in
 * flight after the tick: 1 or 0; NULL in rows of schema 3 and older.
 */
const rowsTable = `
  CREATE TABLE rows (
    place INTEGER PRIMARY KEY,
    world INTEGER GENERATED ALWAYS AS (place >> 40) VIRTUAL,
    tick INTEGER GENERATED ALWAYS AS (place & 0xffffffffff) VIRTUAL,
    line TEXT NOT NULL,
    busy INTEGER
  ) STRICT
`
/** What waits for worlds. Ids are never used again, since they are named by what takes a letter. */
const lettersTable = `
  CREATE TABLE letters (
    id INTEGER PRIMARY KEY AUTOINCREMENT, world INTEGER NOT NULL, dedup TEXT, line TEXT NOT NULL, UNIQUE (world, dedup)
  ) STRICT
`
const textsTable = 'CREATE TABLE texts (key TEXT NOT NULL PRIMARY KEY, text TEXT NOT NULL) STRICT'

/**
 * The tables of a new database. World 0 is the root; it is entered when the database is made. Names are encoded, since
 * not every string is UTF-8. Snapshots have row ids: without them the lines would lie in the index, and each search in it
 * would read whole lines.
 */
export const newSchema = `
  CREATE TABLE worlds (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, epoch INTEGER NOT NULL DEFAULT 0, wake_at INTEGER
  ) STRICT;
  ${rowsTable};
  CREATE TABLE snapshots (
    world INTEGER NOT NULL, tick INTEGER NOT NULL, seq INTEGER NOT NULL, line TEXT NOT NULL, busy INTEGER,
    PRIMARY KEY (world, tick, seq)
  ) STRICT;
  ${textsTable};
  ${lettersTable};
  PRAGMA application_id = ${applicationId};
`

/** What makes each schema version of the one before it, from version 2 on. */
export const schemaSteps = [
  textsTable,
  // Schema 3 brought the tables of transcripts, which are made when they are first needed.
  '',
  `
  ALTER TABLE rows RENAME TO rows_before;
  ${rowsTable};
  INSERT INTO rows (place, line) SELECT world << 40 | tick, line FROM rows_before ORDER BY world, tick;
  DROP TABLE rows_before;
  ALTER TABLE snapshots ADD COLUMN busy INTEGER;
  `,
  `
  ALTER TABLE worlds ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE worlds ADD COLUMN wake_at INTEGER;
  ${lettersTable};
  `,
]
export const schemaVersion = schemaSteps.length + 1

/** How far each transcript was when its last append began, and where the lines lie that can be found. */
export const transcriptTables = `
  CREATE TABLE transcripts (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, lines INTEGER NOT NULL, bytes INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE transcript_lines (
    id INTEGER PRIMARY KEY, transcript INTEGER NOT NULL, line INTEGER NOT NULL, start_byte INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL, UNIQUE (transcript, line)
  ) STRICT;
`

/**
 * The words of those lines. They are kept whole: without them, what is removed would still count when lines are ranked.
 * The lines themselves are in no table.
 */
export const wordsTable =
  "CREATE VIRTUAL TABLE transcript_words USING fts5(searchable, tokenize = 'unicode61 remove_diacritics 2')"

/** Words that wait for a Node whose SQLite has full-text search. */
export const waitingWordsTable = 'CREATE TABLE waiting_words (id INTEGER PRIMARY KEY, searchable TEXT NOT NULL) STRICT'
