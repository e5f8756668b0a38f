import { readdirSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { inHome } from '../../runtime/config/folders.ts'
import { FileTimes } from '../../runtime/tools/file-times.ts'
import { WholeDisk } from '../../runtime/tools/whole-disk.ts'
import { FolderWalk } from '../../tools/files/folder-walk.ts'

/** Most files that are known of a project, those nearest to its folder. */
const usualMaxFiles = 50_000
/** The list is read again after this time. */
const maxAgeMs = 5_000

/** The files of a working folder, without those that `.gitignore` files name. The list is read when it is asked for first. */
export class ProjectFiles {
  readonly #cwd: string
  readonly #onRead: () => void
  readonly #maxFiles: number
  #paths: readonly string[] = []
  /** It has more files. */
  #isCut = false
  #readMs = -Infinity
  #reading: Promise<void> | undefined

  /** @param onRead called when more is known than before */
  constructor(cwd: string, onRead: () => void, maxFiles = usualMaxFiles) {
    this.#cwd = cwd
    this.#onRead = onRead
    this.#maxFiles = maxFiles
  }

  get isReading(): boolean {
    return this.#reading !== undefined
  }

  /** Those that fit what is typed of a path, the best first; folders end in `/`. */
  find(typed: string, most: number): readonly string[] {
    // Paths that lead elsewhere, and hidden names, are looked up as they are typed.
    if (/^(?:[/~.]|.*\/\.)/.test(typed)) return namesIn(this.#cwd, typed).slice(0, most)
    this.#read()
    const wanted = typed.toLowerCase()
    const ranked = this.#paths.flatMap((path) => {
      const rank = rankOf(path.toLowerCase(), wanted)
      return rank === undefined || (path === typed && path.endsWith('/'))
        ? []
        : [{ path, rank, depth: path.split('/').length }]
    })
    if (ranked.length === 0 && this.#isCut) return namesIn(this.#cwd, typed).slice(0, most)
    ranked.sort((a, b) => a.rank - b.rank || a.depth - b.depth || (a.path < b.path ? -1 : 1))
    return ranked.slice(0, most).map(({ path }) => path)
  }

  #read(): void {
    if (this.#reading !== undefined || performance.now() - this.#readMs < maxAgeMs) return
    this.#reading = this.#readAnew()
  }

  async #readAnew(): Promise<void> {
    this.#paths = await this.#walk().catch(() => [])
    this.#readMs = performance.now()
    this.#reading = undefined
    this.#onRead()
  }

  async #walk(): Promise<readonly string[]> {
    const reach = new WholeDisk({ cwd: this.#cwd, home: inHome('~'), fileTimes: new FileTimes() })
    const start = await reach.find('.')
    const { signal } = new AbortController()
    const paths: string[] = []
    // Paths count from the root of the repository, whose ignore files count too.
    const above = start.path === '' ? 0 : start.path.length + 1
    const walk = new FolderWalk(reach, start, { recursive: true, hidden: false, isNearestFirst: true, signal })
    for await (const { path } of walk) {
      if (canBeTyped(path)) paths.push(path.slice(above))
      if (paths.length === this.#maxFiles) break
    }
    this.#isCut = walk.isCut || paths.length === this.#maxFiles
    return paths
  }
}

/** A path with blanks is typed in quotes. */
function canBeTyped(path: string): boolean {
  return !/["\p{Cc}]/u.test(path)
}

/** Lower is better: the beginning of the path, that of the name, a part of the path. */
function rankOf(path: string, wanted: string): number | undefined {
  if (wanted === '') return path.includes('/') && !/^[^/]+\/$/.test(path) ? undefined : 0
  if (path.startsWith(wanted)) return 0
  if (basename(path).startsWith(wanted)) return 1
  return path.includes(wanted) ? 2 : undefined
}

/** Names in the folder that a path leads to. */
function namesIn(cwd: string, typed: string): string[] {
  const cut = typed.lastIndexOf('/') + 1
  const folder = typed.slice(0, cut)
  const begin = typed.slice(cut)
  try {
    return readdirSync(resolve(cwd, inHome(folder)), { withFileTypes: true })
      .filter(({ name }) => name.startsWith(begin) && (begin.startsWith('.') || !name.startsWith('.')))
      .filter(({ name }) => canBeTyped(name))
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
      .toSorted()
  } catch {
    return []
  }
}
