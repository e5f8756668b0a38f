import { readFile } from 'node:fs/promises'
import { EntiaError } from '../../base/entia-error.ts'

/** The text of a file; `undefined` where there is none. @throws by its promise: `store-failed` where it cannot be read */
export async function readIfThere(path: string): Promise<string | undefined> {
  return unlessMissing(path, readFile(path, 'utf8'))
}

/** What was read; `undefined` where there is nothing. @throws by its promise: `store-failed` */
export async function unlessMissing<T>(path: string, reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    const why = error instanceof Error ? error.message : String(error)
    const advice = 'Correct that, or name other folders with ENTIA_CONFIG_DIR, ENTIA_DATA_DIR, ENTIA_STATE_DIR.'
    throw new EntiaError('store-failed', `${path} cannot be read: ${why}. ${advice}`, { path }, { cause: error })
  }
}
