import type { Stats } from 'node:fs'
import { lstat, readlink, realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isFileSystemError, Refusal } from './refusal.ts'

/** Something that exists inside a confined folder. */
export interface Place {
  /** The folder itself: absolute, with no link in it. */
  readonly root: string
  /** Absolute, with no link in it. */
  readonly realPath: string
  /** From the folder, with `/`; empty for the folder itself. */
  readonly path: string
  readonly stats: Stats
}

/** As many links are followed by hand as the operating system follows. */
const maxLinks = 40

/**
 * A folder that paths cannot lead out of: not by `..`, not as absolute paths, not through links of any kind. A path is
 * judged by where it ends, so that one through `..` or a link that ends inside is fine. It keeps a model in, not a
 * program that swaps links between the judging and the reading.
 */
export class ConfinedFolder {
  readonly #folder: string

  /** The folder may be a link, and may be made later. A relative one counts from the working folder of now. */
  constructor(folder: string) {
    this.#folder = resolve(folder)
  }

  /**
   * Where a path of a model's ends. What is missing outside is `outside`, too: nothing is told about what exists there.
   *
   * @throws Refusal when that is outside, or nowhere
   */
  async find(path: string): Promise<Place> {
    if (path.includes('\0')) throw new Refusal(path, 'holds a NUL character.')
    const root = await this.#root()
    const end = await destination(resolve(root, path), maxLinks)
    if (!isInside(root, end)) throw new Refusal(path, 'is outside the folder.')
    return { root, realPath: end, path: relative(root, end).replaceAll(sep, '/'), stats: await lstat(end) }
  }

  async #root(): Promise<string> {
    try {
      return await realpath(this.#folder)
    } catch (error) {
      if (isFileSystemError(error))
        throw new Refusal('', 'The folder of the file tools does not exist or cannot be read.')
      throw error
    }
  }
}

/** `realpath`, also for what does not exist: then where it would be. */
async function destination(path: string, linksLeft: number): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    const isMissing = isFileSystemError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
    if (!isMissing || linksLeft === 0 || dirname(path) === path) throw error
    const parent = await destination(dirname(path), linksLeft)
    const target = await readlink(join(parent, basename(path))).catch(() => undefined)
    return target === undefined ? join(parent, basename(path)) : destination(resolve(parent, target), linksLeft - 1)
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
