import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { cleanName } from './clean-text.ts'
import { isCredentialFile } from '../../rules/policy/credential-paths.ts'
import type { ClosedPlaces } from '../../rules/policy/closed-places.ts'
import { LeftOut } from './left-out.ts'
import type { LineMatcher } from './line-matcher.ts'
import { type FileReach, openInside } from './confined-folder.ts'
import { isFileSystemError, Refusal } from './refusal.ts'
import { ResultLines, shownLine } from './result-lines.ts'
import { BinaryFile, type TextChunk, textChunks, type TextLine } from './text-chunks.ts'

/** A search ends when it has read this much. */
export const maxSearchBytes = 256 * 1024 * 1024

/** Matched characters of a line. */
export const maxMatchedChars = 10_000

const maxShownChars = 500

/** What is searched for, and how much of it is shown. */
export interface SearchOptions {
  readonly matcher: LineMatcher
  /** Most matches. */
  readonly limit: number
  /** Lines before and after each match. */
  readonly context: number
  readonly reach: FileReach
  /** Is not read. @default nothing */
  readonly closed?: ClosedPlaces | undefined
  readonly signal: AbortSignal
}

/** Searches files one by one, and collects the result. */
export class FileSearch {
  readonly result = new ResultLines()
  readonly #options: SearchOptions
  #readBytes = 0
  matches = 0
  files = 0
  readonly leftOut = new LeftOut()
  /** Lines longer than `maxMatchedChars`. */
  longLines = 0
  /** Files that could not be read. */
  unreadable = 0
  /** Why it ended early: more matches than the limit, or `maxSearchBytes`. */
  end: 'matches' | 'bytes' | undefined

  constructor(options: SearchOptions) {
    this.#options = options
  }

  /** @param path from the root */
  async file(root: string, path: string): Promise<void> {
    const shown = this.#options.reach.shown(root, path)
    if (isCredentialFile(shown)) {
      this.leftOut.add('credential')
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
      // Its folder may have been swapped meanwhile.
      if (opened.path === path || !this.#isClosed(root, opened.path)) return opened.handle
      await opened.handle.close()
    } catch (error) {
      if (!isFileSystemError(error) && !(error instanceof Refusal)) throw error
    }
    this.unreadable++
    return undefined
  }

  #isClosed(root: string, path: string): boolean {
    const { closed, reach } = this.#options
    return isCredentialFile(reach.shown(root, path)) || closed?.kindOf(join(root, path)) !== undefined
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

  /** `--` separates groups of lines. */
  #show(line: TextLine, number: number, mark: ':' | '-', cursor: Cursor): boolean {
    const isApart = this.#options.context > 0 && this.result.count > 0 && number !== cursor.lastShown + 1
    cursor.lastShown = number
    const shown = `${cleanName(cursor.path)}${mark}${number}${mark} ${shownLine(line, maxShownChars)}`
    return this.result.add(isApart ? `--\n${shown}` : shown)
  }
}

interface Cursor {
  readonly path: string
  /** The current line, 1-based. */
  number: number
  /** Last lines not shown, in case the next one matches. */
  before: TextLine[]
  /** Next lines to show after a match. */
  after: number
  lastShown: number
}
