import { unlessMissing } from '../../base/unless-missing.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import { readFile } from 'node:fs/promises'
import { EntiaError } from '../../base/entia-error.ts'

/** The text of a file; `undefined` where there is none. @throws by its promise: `store-failed` where it cannot be read */
export async function readIfThere(path: string): Promise<string | undefined> {
  return ifThere(path, readFile(path, 'utf8'))
}

/** What was read; `undefined` where there is nothing. @throws by its promise: `store-failed` */
export async function ifThere<T>(path: string, reading: Promise<T>): Promise<T | undefined> {
  try {
    return await unlessMissing(reading)
  } catch (error) {
    const why = thrownMessage(error)
    const advice = 'Correct that, or name other folders with ENTIA_CONFIG_DIR, ENTIA_DATA_DIR, ENTIA_STATE_DIR.'
    throw new EntiaError('store-failed', `${path} cannot be read: ${why}. ${advice}`, { path }, { cause: error })
  }
}
