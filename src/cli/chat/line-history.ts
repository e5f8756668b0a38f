import { appendFileSync, chmodSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../stores/files.ts'
import { hasSecret } from './secret-texts.ts'

/** Longer texts were pasted, and are not kept. */
const maxLineChars = 10_000
/** Lines that are offered again. */
const maxLines = 1_000
/** Lines after which the file is written anew with the newest. */
const maxStoredLines = 5_000

/** For its owner alone. */
const fileMode = 0o600

/**
 * What the user typed in earlier chats, in a file with a JSON text a line, which only its owner can read. Lines that seem to have
 * a secret in them are not kept. A file that cannot be used is no error.
 */
export class LineHistory {
  readonly #path: string
  #canWrite = true

  constructor(path: string) {
    this.#path = path
  }

  /** Newest first. */
  read(): readonly string[] {
    this.#tighten()
    const lines = this.#stored()
    if (lines.length > maxStoredLines) this.#write(lines.slice(-maxLines))
    return [...new Set(lines.slice(-maxLines).toReversed())]
  }

  add(line: string): void {
    if (line.length > maxLineChars || hasSecret(line)) return
    this.#try(() => {
      makeFolder(dirname(this.#path))
      appendFileSync(this.#path, `${JSON.stringify(line)}\n`, { mode: fileMode })
    })
  }

  /** A copy, or another program, may have left it readable to others. */
  #tighten(): void {
    if (process.platform === 'win32') return
    this.#try(() => {
      const stats = statSync(this.#path, { throwIfNoEntry: false })
      if (stats?.isFile() === true && (stats.mode & 0o077) !== 0) chmodSync(this.#path, fileMode)
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
      writeFileSync(beside, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { mode: fileMode })
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
