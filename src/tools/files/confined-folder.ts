import { type BigIntStats, constants, type Stats } from 'node:fs'
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import type { ClosedPlaces } from '../../rules/policy/closed-places.ts'
import type { ToolContext } from '../port.ts'
import { contains, leadsTo } from './leads-to.ts'
import { isFileSystemError, Refusal } from './refusal.ts'

/** An existing file or folder within reach. */
export interface Place {
  /** The confining folder: absolute, without links. */
  readonly root: string
  /** Absolute, without links. */
  readonly realPath: string
  /** Relative to the root, with `/`; empty for the root. */
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
  /** The path as a model reads it. */
  shown(root: string, path: string): string
  /** What a policy closes below a place that a call names. Absent: nothing. */
  closedBelow?(realPath: string, policy: ToolContext['policy']): Promise<ClosedPlaces>
  /** Records which version of a file a model has read. */
  noteRead?(realPath: string, stats: BigIntStats): void
}

/** In characters: the limit of operating systems. */
const maxPathChars = 4_096

/**
 * A folder that paths cannot leave: by `..`, as absolute paths or through links. A path is judged by where it ends, so `..` or a
 * link that ends inside is fine. `openInside` judges again what it has opened.
 */
export class ConfinedFolder implements FileReach {
  readonly #folder: string

  /** The folder may be a link, or not exist yet. */
  constructor(folder: string) {
    this.#folder = resolve(folder)
  }

  /**
   * Reveals nothing about what is outside, not even what is missing there.
   *
   * @throws Refusal when the path is outside, or nowhere
   */
  async find(path: string): Promise<Place> {
    checkPath(path)
    const root = await this.#root()
    const end = await leadsTo(resolve(root, path))
    if (!contains(root, end)) throw Refusal.of(path, 'is outside the folder.')
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

/** @throws Refusal for a path that no system accepts */
export function checkPath(path: string): void {
  if (path.includes('\0')) throw Refusal.of(path, 'holds a NUL character.')
  if (path.length > maxPathChars) throw Refusal.of(path, 'is too long for a path.')
}

/** An open file or folder. The caller closes it. */
export interface Opened {
  readonly handle: FileHandle
  /** Relative to the confined folder, with `/`. */
  readonly path: string
}

/** Follows no link, and does not wait for the writer of a pipe. */
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Opens a file or folder inside a confined folder. A program may swap a parent for a link that leads out, so the place of the
 * opened file counts. Linux knows it by handle. Elsewhere the path is resolved again and must lead to the same file, which
 * leaves a gap for two swaps within microseconds.
 *
 * @param realPath absolute, without links when it was judged
 * @throws Refusal if it is outside, or moved meanwhile
 */
export async function openInside(root: string, realPath: string): Promise<Opened> {
  const handle = await open(realPath, flags)
  try {
    const end = await placeOf(handle, realPath)
    if (end === undefined || !contains(root, end)) throw Refusal.of(relative(root, realPath), 'is outside the folder.')
    return { handle, path: relative(root, end).replaceAll(sep, '/') }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** `undefined` if the path no longer leads to the open file. */
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
