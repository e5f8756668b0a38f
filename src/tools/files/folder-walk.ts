import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type FileReach, openInside, type Place } from './confined-folder.ts'
import { IgnoreRules } from './ignore-rules.ts'
import { isFileSystemError, Refusal } from './refusal.ts'

/** A file or folder of a walk. */
export interface FolderEntry {
  /** From the root of the walk, with `/`; that of a folder, or of a link to one inside, ends in `/`. */
  readonly path: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
}

export interface WalkOptions {
  /** Goes into the folders below, too. */
  readonly recursive: boolean
  /** Names that begin with a dot count. */
  readonly hidden: boolean
  readonly signal: AbortSignal
}

/** Most entries that one walk gives. */
export const maxEntries = 100_000

/**
 * What is in a folder, sorted by path in code units, without what ignore files leave out. Links are given, but not
 * followed, so no walk leaves its root or goes round in circles; `.git` is given, but not entered.
 */
export class FolderWalk implements AsyncIterable<FolderEntry> {
  readonly #reach: FileReach
  readonly #start: Place
  readonly #options: WalkOptions
  /** Folders that the file system would not let be read. */
  unreadable = 0
  /** It ended at `maxEntries`; there is more. */
  isCut = false

  constructor(reach: FileReach, start: Place, options: WalkOptions) {
    this.#reach = reach
    this.#start = start
    this.#options = options
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FolderEntry> {
    const waiting: Waiting[] = []
    const { root, path: start } = this.#start
    const enter = async (path: string, rulesAbove: IgnoreRules): Promise<void> => {
      const rules = await rulesAbove.enter(root, path)
      const entries = await this.#read(root, path, rules)
      // The last one waits below: entries are taken from the end.
      for (const entry of entries.toReversed()) waiting.push({ entry, rules })
    }
    await enter(start, await IgnoreRules.above(root, start))
    let count = 0
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
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

/** What an open folder holds: one that is swapped for a link while it is read stays the folder that it was. */
async function namesIn(root: string, folder: string): Promise<Dirent[]> {
  const { handle } = await openInside(root, folder)
  try {
    const asOpened = process.platform === 'linux' ? `/proc/self/fd/${handle.fd}` : folder
    return await readdir(asOpened, { withFileTypes: true })
  } finally {
    await handle.close()
  }
}

/** An entry whose turn has not come, and the rules of the folder it is in. */
interface Waiting {
  readonly entry: FolderEntry
  readonly rules: IgnoreRules
}
