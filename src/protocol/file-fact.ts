import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'

/** A file as it was when a call of a tool ended; one that is gone has size and time 0. Without them: not known. */
export const FileFact = lazily(() =>
  z.strictObject({
    /** Absolute. */
    path: z.string(),
    sizeBytes: z.number().nonnegative().optional(),
    /** When it was last changed, in milliseconds since 1970 on the clock of the disk. */
    changedMs: z.number().optional(),
  }),
)
export type FileFact = DataOf<typeof FileFact>
