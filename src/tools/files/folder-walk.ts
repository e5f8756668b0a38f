import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileReach, openInside, type Place } from './confined-folder.ts'
import type { ClosedPlaces } from '../../rules/policy/closed-places.ts'
import { LeftOut } from './left-out.ts'
import { IgnoreRules } from './ignore-rules.ts'
import { isFileSystemError, Refusal } from './refusal.ts'

/** What a walk finds. */
export interface FolderEntry {
  /** Relative to the root, with `/`; folders, and links to folders inside, end in `/`. */
  readonly path: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
}

/** How far a walk goes, and what it leaves out. */
export interface WalkOptions {
  readonly recursive: boolean
  /** Include names that begin with a dot. */
  readonly hidden: boolean
  /** Is not listed, and not entered. @default nothing */
  readonly closed?: ClosedPlaces | undefined
  /** Counts that. @default a new one */
  readonly leftOut?: LeftOut | undefined
  /** Entries near the root before those far from it. @default false: what is in a folder follows it */
  readonly isNearestFirst?: boolean
  readonly signal: AbortSignal
}

/** A walk ends after this many entries. */
export const maxEntries = 100_000

/**
 * Entries of a folder sorted by code units, without ignored ones. Links and `.git` are listed but not entered, so no walk leaves
 * its root or loops.
 */
export class FolderWalk implements AsyncIterable<FolderEntry> {
  readonly #reach: FileReach
  readonly #start: Place
  readonly #options: WalkOptions
  /** Folders that could not be read. */
  unreadable = 0
  /** What is closed. */
  readonly leftOut: LeftOut
  /** It ended at `maxEntries`. */
  isCut = false

  constructor(reach: FileReach, start: Place, options: WalkOptions) {
    this.#reach = reach
    this.#start = start
    this.#options = options
    this.leftOut = options.leftOut ?? new LeftOut()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FolderEntry> {
    const waiting: Waiting[] = []
    const { isNearestFirst = false } = this.#options
    const { root, path: start } = this.#start
    const enter = async (path: string, rulesAbove: IgnoreRules): Promise<void> => {
      const rules = await rulesAbove.enter(root, path)
      const entries = await this.#read(root, path, rules)
      for (const entry of isNearestFirst ? entries : entries.toReversed()) waiting.push({ entry, rules })
    }
    const take = (): Waiting | undefined => (isNearestFirst ? waiting[count] : waiting.pop())
    let count = 0
    await enter(start, await IgnoreRules.above(root, start))
    for (let next = take(); next !== undefined; next = take()) {
      this.#options.signal.throwIfAborted()
      if (count++ === maxEntries) {
        this.isCut = true
        return
      }
      const { path, kind } = next.entry
      yield next.entry
      if (this.#options.recursive && kind === 'folder' && !/(^|\/)\.git\/$/.test(path))
        await enter(path.slice(0, -1), next.rules)
    }
  }

  async #read(root: string, path: string, rules: IgnoreRules): Promise<FolderEntry[]> {
    let found: Dirent[]
    try {
      found = await namesIn(root, join(root, path))
    } catch (error) {
      if (!isFileSystemError(error) && !(error instanceof Refusal)) throw error
      this.unreadable++
      return []
    }
    const entries: FolderEntry[] = []
    for (const item of found) {
      if (!this.#options.hidden && item.name.startsWith('.')) continue
      const itemPath = path === '' ? item.name : `${path}/${item.name}`
      if (rules.leaveOut(item.isDirectory() ? `${itemPath}/` : itemPath)) continue
      const kind = this.#options.closed?.kindOf(join(root, itemPath))
      if (kind !== undefined) {
        this.leftOut.add(kind)
        continue
      }
      entries.push(await this.#entry(item, root, itemPath))
    }
    return entries.sort((one, other) => (one.path < other.path ? -1 : 1))
  }

  async #entry(item: Dirent, root: string, path: string): Promise<FolderEntry> {
    if (item.isDirectory()) return { path: `${path}/`, kind: 'folder' }
    if (item.isSymbolicLink())
      return { path: (await this.#leadsToFolder(join(root, path))) ? `${path}/` : path, kind: 'link' }
    return { path, kind: item.isFile() ? 'file' : 'other' }
  }

  async #leadsToFolder(path: string): Promise<boolean> {
    try {
      return (await this.#reach.find(path)).stats.isDirectory()
    } catch (error) {
      if (error instanceof Refusal || isFileSystemError(error)) return false
      throw error
    }
  }
}

/** Reads the open folder: one swapped for a link meanwhile does not count. */
async function namesIn(root: string, folder: string): Promise<Dirent[]> {
  const { handle } = await openInside(root, folder)
  try {
    const asOpened = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder
    return await readdir(asOpened, { withFileTypes: true })
  } finally {
    await handle.close()
  }
}

/** An entry and the rules of its folder. */
interface Waiting {
  readonly entry: FolderEntry
  readonly rules: IgnoreRules
}
