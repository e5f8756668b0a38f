/** Gives a database of the present schema the tables that it had before schema 4, but for its texts and its version. */
export const asBeforeSchema4 = `
  ALTER TABLE rows RENAME TO newer_rows;
  CREATE TABLE rows (
    world INTEGER NOT NULL, tick INTEGER NOT NULL, line TEXT NOT NULL, PRIMARY KEY (world, tick)
  ) STRICT;
  INSERT INTO rows SELECT world, tick, line FROM newer_rows;
  DROP TABLE newer_rows;
  ALTER TABLE snapshots DROP COLUMN busy;
  ALTER TABLE worlds DROP COLUMN epoch;
  ALTER TABLE worlds DROP COLUMN wake_at;
  DROP TABLE letters
`
