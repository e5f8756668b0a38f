import { z } from 'zod'
import type { DataOf } from '../world/component.ts'
import { lazily } from '../base/lazily.ts'

/** What a value is, as a model reads it. A table is a list of objects, a matrix a list of lists of numbers. */
export const valueKinds = ['boolean', 'list', 'matrix', 'null', 'number', 'object', 'table', 'text'] as const
export type ValueKind = (typeof valueKinds)[number]

/** What a World knows of a value that is kept. */
export const HandleEntry = lazily(() =>
  z.strictObject({
    /** Only the process of `run_js` has the value. */
    isLive: z.literal(true).optional(),
    /** Absent: live. */
    kind: z.enum(valueKinds).optional(),
    /** Path in the records; a text is kept as it is, all else as JSON. Absent: live. */
    recordPath: z.string().optional(),
    /** One line that says what it is. */
    shape: z.string(),
    /** Of the content, in UTF-8. Absent: live. */
    sizeBytes: z.number().int().nonnegative().optional(),
  }),
)
export type HandleEntry = DataOf<typeof HandleEntry>
