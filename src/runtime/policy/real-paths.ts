import { lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { lstat, readlink, realpath } from 'node:fs/promises'
import { dirname, normalize } from 'node:path'
import { isPattern } from '../../rules/policy/glob.ts'

/** Longest path that is looked for on the disk; no system opens a longer one. */
const maxPathChars = 4_096

/** What a path is: it is there, or it is a link whose target is not there yet, or neither. */
type Found = { readonly real: string } | { readonly target: string } | undefined

/**
 * Looks up where absolute paths lead on the disk. Each name is looked for once; make a new one for the state of later.
 *
 * What a call names may lie on a disk that does not answer, and must not stop the program: it is looked up in another thread.
 * Paths of lists, and names that the working folder does not have, are looked up in this one, in a tenth of the time.
 */
export class RealPaths {
  readonly #found = new Map<string, Promise<Found> | Found>()
  readonly #listed: ReadonlySet<string>
  readonly #folder: string | undefined

  constructor({ folder, listed = [] }: { readonly listed?: Iterable<string>; readonly folder?: string } = {}) {
    this.#listed = new Set(listed)
    this.#folder = folder
  }

  /**
   * Where a path leads, when that differs from how it reads: links of the longest part that exists are followed. With `..`
   * behind a link there are two answers, as the system and as programs take it; both are given.
   */
  async leadsTo(path: string): Promise<readonly string[]> {
    if (path.includes('\0') || path.length > maxPathChars) return []
    const read = normalize(path)
    const isListed = this.#listed.has(path)
    const found = new Set([
      await this.#longestReal(read, isListed),
      path.includes('..') ? await this.#longestReal(path, isListed) : undefined,
    ])
    found.delete(undefined)
    found.delete(read)
    found.delete(read.replace(/\/$/, ''))
    return [...found] as string[]
  }

  /** Of a pattern, only the folders before it are followed. */
  async #longestReal(path: string, isListed: boolean, links = 0): Promise<string | undefined> {
    const names = path.split('/')
    const firstPattern = names.findIndex(isPattern)
    for (let length = firstPattern === -1 ? names.length : firstPattern; length > 1; length--) {
      const start = names.slice(0, length).join('/') || '/'
      const found = await this.#look(start, isListed)
      if (found === undefined) continue
      const rest = names.slice(length)
      if ('real' in found) return [found.real === '/' ? '' : found.real, ...rest].join('/') || '/'
      // What is written through a link whose target does not exist yet is made where the link points.
      if (links >= maxLinks) continue
      const folder = found.target.startsWith('/') ? '' : `${names.slice(0, length - 1).join('/')}/`
      return this.#longestReal([`${folder}${found.target}`, ...rest].join('/'), isListed, links + 1)
    }
    return undefined
  }

  #look(path: string, isListed: boolean): Promise<Found> | Found {
    if (!this.#found.has(path)) this.#found.set(path, this.#lookUp(path, isListed))
    return this.#found.get(path)
  }

  #lookUp(path: string, isListed: boolean): Promise<Found> | Found {
    if (isListed) return foundHere(path)
    if (dirname(path) === this.#folder && isMissing(path)) return undefined
    return foundElsewhere(path)
  }
}

/** Most links that lead to a name that does not exist yet, as the system follows them. */
const maxLinks = 40

async function foundElsewhere(path: string): Promise<Found> {
  try {
    await lstat(path)
  } catch {
    return undefined
  }
  return realpath(path).then(
    (real) => ({ real }),
    () =>
      readlink(path).then(
        (target) => ({ target }),
        () => undefined,
      ),
  )
}

function foundHere(path: string): Found {
  if (isMissing(path)) return undefined
  try {
    return { real: realpathSync.native(path) }
  } catch {
    return linkHere(path)
  }
}

function isMissing(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return true
  }
}

function linkHere(path: string): Found {
  try {
    return { target: readlinkSync(path) }
  } catch {
    return undefined
  }
}
