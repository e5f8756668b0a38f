import { type BigIntStats, constants, type Stats } from 'node:fs'
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { isFileSystemError, Refusal } from './refusal.ts'

/** Something that exists within reach. */
export interface Place {
  /** The folder that is not left from here: absolute, with no link in it. */
  readonly root: string
  /** Absolute, with no link in it. */
  readonly realPath: string
  /** From the root, with `/`; empty for the root itself. */
  readonly path: string
  readonly stats: Stats
}

/** What file tools can reach: a confined folder, or the whole disk. */
export interface FileReach {
  /**
   * Resolves a path from a model.
   *
   * @throws Refusal when that is out of reach
   */
  find(path: string): Promise<Place>
  /** How a model reads a path from the root of a place. */
  shown(root: string, path: string): string
  /** Notes which version of a file a model has read. */
  noteRead?(realPath: string, stats: BigIntStats): void
}

/** As many links are followed by hand as the operating system follows. */
const maxLinks = 40

/** Longest path, in characters: the limit of operating systems. */
const maxPathChars = 4_096

/**
 * A folder that paths cannot lead out of: not by `..`, not as absolute paths, not through links of any kind. A path is
 * judged by where it ends, so that one through `..` or a link that ends inside is fine. What is read is opened by
 * `openInside`, which judges once more what it has opened.
 */
export class ConfinedFolder implements FileReach {
  readonly #folder: string

  /** The folder may be a link, and may be made later. A relative one counts from the working folder of now. */
  constructor(folder: string) {
    this.#folder = resolve(folder)
  }

  /**
   * Resolves a path from a model. Reveals nothing about what is outside, not even what is missing there.
   *
   * @throws Refusal when that is outside, or nowhere
   */
  async find(path: string): Promise<Place> {
    checkPath(path)
    const root = await this.#root()
    const end = await destination(resolve(root, path))
    if (!isInside(root, end)) throw Refusal.of(path, 'is outside the folder.')
    return { root, realPath: end, path: relative(root, end).replaceAll(sep, '/'), stats: await stat(end) }
  }

  shown(_root: string, path: string): string {
    return path
  }

  async #root(): Promise<string> {
    try {
      return await realpath(this.#folder)
    } catch (error) {
      if (isFileSystemError(error)) throw new Refusal('The folder of the file tools does not exist or cannot be read.')
      throw error
    }
  }
}

/** @throws Refusal for a path that no system takes */
export function checkPath(path: string): void {
  if (path.includes('\0')) throw Refusal.of(path, 'holds a NUL character.')
  if (path.length > maxPathChars) throw Refusal.of(path, 'is too long for a path.')
}

/** `realpath`, also for what does not exist or must not be seen: then where it would be. */
export async function destination(path: string): Promise<string> {
  let linksLeft = maxLinks

  async function follow(way: string): Promise<string> {
    try {
      return await realpath(way)
    } catch (error) {
      if (!isFileSystemError(error) || dirname(way) === way) throw error
    }
    const place = join(await follow(dirname(way)), basename(way))
    if (linksLeft-- <= 0) return place
    const target = await readlink(place).catch(() => undefined)
    return target === undefined ? place : follow(resolve(dirname(place), target))
  }

  return follow(path)
}

/** Does an absolute path end in a folder, or at the folder itself? */
export function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

/** A file or folder that is open. */
export interface Opened {
  readonly handle: FileHandle
  /** Where it is: from the confined folder, with `/`. */
  readonly path: string
}

/** Without following a link, and without waiting for the writer of a pipe. */
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Opens a place inside a confined folder. Between judging a path and opening it, a program may swap a folder of it for a
 * link that leads out; so what counts is where the opened file is. Linux says so of a handle. Elsewhere the path is judged
 * anew, and has to lead to the same file, which leaves a gap for two swaps within microseconds.
 *
 * @param realPath absolute, with no link in it when it was judged
 * @throws Refusal if it is outside, or moved meanwhile
 */
export async function openInside(root: string, realPath: string): Promise<Opened> {
  const handle = await open(realPath, flags)
  try {
    const end = await placeOf(handle, realPath)
    if (end === undefined || !isInside(root, end)) throw Refusal.of(relative(root, realPath), 'is outside the folder.')
    return { handle, path: relative(root, end).replaceAll(sep, '/') }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** Where an open file is; `undefined` if it is not what the path leads to. */
async function placeOf(handle: FileHandle, realPath: string): Promise<string | undefined> {
  try {
    return await readlink(`/proc/self/fd/${handle.fd}`)
  } catch (error) {
    if (!isFileSystemError(error)) throw error
  }
  const [opened, end] = await Promise.all([handle.stat({ bigint: true }), realpath(realPath)])
  const there = await stat(end, { bigint: true })
  return opened.dev === there.dev && opened.ino === there.ino ? end : undefined
}
