import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanName } from './clean-text.ts'
import { isCredentialFile } from './credential-files.ts'
import type { LineMatcher } from './line-matcher.ts'
import { type FileReach, openInside } from './confined-folder.ts'
import { isFileSystemError, Refusal } from './refusal.ts'
import { ResultLines, shownLine } from './result-lines.ts'
import { BinaryFile, type TextChunk, textChunks, type TextLine } from './text-chunks.ts'

/** Most bytes that one search reads. */
export const maxSearchBytes = 256 * 1024 * 1024

/** How much of a line is matched, in characters. */
export const maxMatchedChars = 10_000

const maxShownChars = 500

export interface SearchOptions {
  readonly matcher: LineMatcher
  /** Most matching lines. */
  readonly limit: number
  /** Lines shown before and behind each match. */
  readonly context: number
  readonly reach: FileReach
  readonly signal: AbortSignal
}

/** A search through files, one after the other, and what it found so far. */
export class FileSearch {
  readonly result = new ResultLines()
  readonly #options: SearchOptions
  #readBytes = 0
  /** Matching lines that are shown. */
  matches = 0
  /** Files that were looked into. */
  files = 0
  credentialFiles = 0
  /** Lines that were matched only as far as `maxMatchedChars`. */
  longLines = 0
  /** Files that the file system would not let be read. */
  unreadable = 0
  /** Why it is over before all files are searched: more matches than are shown, or `maxSearchBytes`. */
  end: 'matches' | 'bytes' | undefined

  constructor(options: SearchOptions) {
    this.#options = options
  }

  /** Searches a file, given by its path from the root. */
  async file(root: string, path: string): Promise<void> {
    const shown = this.#options.reach.shown(root, path)
    if (isCredentialFile(shown)) {
      this.credentialFiles++
      return
    }
    this.files++
    const handle = await this.#opened(root, path)
    if (handle === undefined) return
    try {
      await this.#search(handle, shown)
    } catch (error) {
      if (isFileSystemError(error)) this.unreadable++
      else if (!(error instanceof BinaryFile)) throw error
    }
  }

  async #opened(root: string, path: string): Promise<FileHandle | undefined> {
    try {
      const opened = await openInside(root, join(root, path))
      // Its folder may have been swapped for another one meanwhile.
      if (opened.path === path || !isCredentialFile(this.#options.reach.shown(root, opened.path))) return opened.handle
      await opened.handle.close()
    } catch (error) {
      if (!isFileSystemError(error) && !(error instanceof Refusal)) throw error
    }
    this.unreadable++
    return undefined
  }

  async #search(handle: FileHandle, path: string): Promise<void> {
    const cursor: Cursor = { path, number: 0, before: [], after: 0, lastShown: -1 }
    const { signal } = this.#options
    for await (const chunk of textChunks(handle, { maxLineChars: maxMatchedChars, signal })) {
      this.#readBytes += chunk.sizeBytes
      if (this.#readBytes > maxSearchBytes) this.end = 'bytes'
      else this.#chunk(chunk, cursor)
      if (this.end !== undefined) return
    }
  }

  #chunk({ lines }: TextChunk, cursor: Cursor): void {
    const matches = this.#options.matcher.matches(lines, cursor.path)
    for (const [index, line] of lines.entries()) {
      cursor.number++
      if (line.leftOut > 0) this.longLines++
      if (matches[index] === true) this.#match(line, cursor)
      else this.#between(line, cursor)
      if (this.result.isFull) this.end = 'matches'
      if (this.end !== undefined) return
    }
  }

  #match(line: TextLine, cursor: Cursor): void {
    if (this.matches === this.#options.limit) {
      this.end = 'matches'
      return
    }
    const firstNumber = cursor.number - cursor.before.length
    for (const [index, earlier] of cursor.before.entries()) this.#show(earlier, firstNumber + index, '-', cursor)
    if (this.#show(line, cursor.number, ':', cursor)) this.matches++
    cursor.before = []
    cursor.after = this.#options.context
  }

  #between(line: TextLine, cursor: Cursor): void {
    if (cursor.after > 0) {
      cursor.after--
      this.#show(line, cursor.number, '-', cursor)
    } else if (this.#options.context > 0) {
      cursor.before.push(line)
      if (cursor.before.length > this.#options.context) cursor.before.shift()
    }
  }

  /** Groups of lines that do not follow each other are parted by `--`. */
  #show(line: TextLine, number: number, mark: ':' | '-', cursor: Cursor): boolean {
    const isApart = this.#options.context > 0 && this.result.count > 0 && number !== cursor.lastShown + 1
    cursor.lastShown = number
    const shown = `${cleanName(cursor.path)}${mark}${number}${mark} ${shownLine(line, maxShownChars)}`
    return this.result.add(isApart ? `--\n${shown}` : shown)
  }
}

/** Where a search is in a file. */
interface Cursor {
  readonly path: string
  /** Of the line under way, from 1. */
  number: number
  /** The last lines that are not shown yet, in case that the next one matches. */
  before: TextLine[]
  /** How many of the next lines stand behind a match. */
  after: number
  lastShown: number
}
