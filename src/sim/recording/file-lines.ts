import { z } from 'zod'
import { lazily } from '../../world/lazily.ts'

/** Version of the form of recording files. In files of format 1 no world notes which version of entia recorded it. */
export const fileFormat = 2

const count = lazily(() => z.number().int().nonnegative())

/** First line: what the file is, and whose worlds follow, the root first. */
export const FileHead = lazily(() =>
  z.strictObject({
    entiaRecording: z.union([z.literal(1), z.literal(fileFormat)]),
    root: z.string().min(1),
    worlds: z.array(z.string().min(1)).min(1),
  }),
)

/** Begins a world: so many lines of a snapshot, then so many rows, follow. */
export const WorldHead = lazily(() =>
  z.strictObject({ world: z.string(), tick: count(), snapshot: count().min(1), rows: count() }),
)

/** A line of a snapshot, as its store had it. */
export const SnapshotLine = lazily(() => z.strictObject({ line: z.string() }))

/** A committed tick, as its store had it. */
export const RowLine = lazily(() => z.strictObject({ tick: count(), line: z.string() }))

/** Last line: how many lines stand before it, and their SHA-256. */
export const FileEnd = lazily(() =>
  z.strictObject({ end: z.strictObject({ lines: count(), sha256: z.string().length(64) }) }),
)
