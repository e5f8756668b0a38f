import { closeSync, fchmodSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../stores/files.ts'
import { EntiaError } from '../../base/entia-error.ts'

/** A file of JSON lines that only grows. What a crash left of a last line is cut off when it is opened. */
export class TranscriptFile {
  readonly #file: number
  #sizeBytes: number
  /** What it had when it was opened. */
  readonly lines: readonly string[]

  /** @throws `store-failed` where it cannot be opened */
  constructor(path: string) {
    this.#file = opened(path)
    fchmodSync(this.#file, 0o600)
    const bytes = readFileSync(this.#file)
    this.#sizeBytes = bytes.lastIndexOf(0x0a) + 1
    if (this.#sizeBytes < bytes.length) ftruncateSync(this.#file, this.#sizeBytes)
    this.lines = bytes.subarray(0, this.#sizeBytes).toString('utf8').split('\n').slice(0, -1)
  }

  /** Writes all of it or nothing. @throws what the file system throws */
  append(lines: readonly string[]): void {
    if (lines.length === 0) return
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(this.#file, bytes, written)
      this.#sizeBytes += bytes.length
    } catch (error) {
      ftruncateSync(this.#file, this.#sizeBytes)
      throw error
    }
  }

  close(): void {
    closeSync(this.#file)
  }
}

function opened(path: string): number {
  try {
    makeFolder(dirname(path))
    return openSync(path, 'a+', 0o600)
  } catch (error) {
    const what = `The transcript ${path} cannot be opened: ${(error as Error).message}.`
    throw new EntiaError(
      'store-failed',
      `${what} Make its folder writable, or name another by ENTIA_DATA_DIR. A damaged transcript may be removed: it is an export.`,
      { path },
      { cause: error },
    )
  }
}
