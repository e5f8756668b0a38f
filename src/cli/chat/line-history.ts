import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../stores/files.ts'

/** Longer texts were pasted, and are not kept. */
const maxLineChars = 10_000
/** Lines that are offered again. */
const maxLines = 1_000
/** Lines after which the file is written anew with the newest. */
const maxStoredLines = 5_000

/** What the user typed in earlier chats, in a file with a JSON text a line. A file that cannot be used is no error. */
export class LineHistory {
  readonly #path: string
  #canWrite = true

  constructor(path: string) {
    this.#path = path
  }

  /** Newest first. */
  read(): readonly string[] {
    const lines = this.#stored()
    if (lines.length > maxStoredLines) this.#write(lines.slice(-maxLines))
    return [...new Set(lines.slice(-maxLines).toReversed())]
  }

  add(line: string): void {
    if (line.length > maxLineChars) return
    this.#try(() => {
      makeFolder(dirname(this.#path))
      appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { mode: 0o600 })
    })
  }

  #stored(): string[] {
    try {
      return readFileSync(this.#path, 'utf8').split('\n').flatMap(textOf)
    } catch {
      return []
    }
  }

  #write(lines: readonly string[]): void {
    this.#try(() => {
      const beside = `${this.#path}.${process.pid}`
      writeFileSync(beside, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: 0o600 })
      renameSync(beside, this.#path)
    })
  }

  #try(write: () => void): void {
    if (!this.#canWrite) return
    try {
      write()
    } catch {
      this.#canWrite = false
    }
  }
}

/** A torn or foreign line is none. */
function textOf(line: string): string[] {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'string' ? [value] : []
  } catch {
    return []
  }
}
