/** Where worlds are kept, and the port of a store of your own. */

export { memoryStore } from '../stores/memory.ts'
export type {
  Batch,
  JournalRow,
  Letter,
  ListOptions,
  LostTicks,
  OpenOptions,
  Post,
  ReadOptions,
  SharedBatch,
  SharedJournal,
  SharedOpenOptions,
  SharedStore,
  Store,
  StoredWorld,
  StreamedText,
  Streams,
  TranscriptHit,
  TranscriptLine,
  WorldInfo,
  WorldJournal,
  WorldName,
  WrittenText,
} from '../stores/port.ts'
export { sqliteStore, sqliteStoreDefaults, type SqliteStoreOptions } from '../stores/sqlite.ts'
