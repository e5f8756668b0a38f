import { z } from 'zod'
import { EntiaError } from '../base/entia-error.ts'
import { storeOnDemand } from './store-on-demand.ts'
import type { SharedStore } from './port.ts'

/** Options of `sqliteStore`. */
export interface SqliteStoreOptions {
  /** Holds one database a root world. Made, for its owner alone, when the first world is opened. */
  readonly folder: string
  /**
   * Holds a folder for each root world that has transcripts, `<name of its database>.files`, in which each lies under its
   * key. Folders and files are for their owner alone. @default `folder`
   */
  readonly transcripts?: string | undefined
  /**
   * `full`: a commit outlasts a power failure. `normal`: it outlasts the end of the process, and a power failure may
   * take the last commits, never a part of one. @default 'full'
   */
  readonly synchronous?: 'full' | 'normal' | undefined
  /**
   * Largest size of a root world's database, with the index of its transcripts. A larger commit rejects with `store-failed`.
   * @default no limit
   */
  readonly maxSizeBytes?: number | undefined
}

/** What holds for `sqliteStore` where its options say nothing. */
export const sqliteStoreDefaults = { synchronous: 'full' } as const

const optionsSchema = () =>
  z.strictObject({
    folder: z.string().min(1),
    transcripts: z.string().min(1).optional(),
    synchronous: z.enum(['full', 'normal']).default(sqliteStoreDefaults.synchronous),
    maxSizeBytes: z.int().positive().optional(),
  })

/** A store in a folder, on Node's own SQLite, which is loaded at first use. @throws `config-invalid` */
export function sqliteStore(options: SqliteStoreOptions): SharedStore {
  const checked = optionsSchema().safeParse(options)
  if (checked.success) {
    return storeOnDemand(async () => new (await import('./sqlite-medium.ts')).SqliteMedium(checked.data))
  }
  const problems = z.prettifyError(checked.error)
  throw new EntiaError('config-invalid', `The options of sqliteStore are not usable:\n${problems}`)
}
