import { constants } from 'node:fs'
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import { relative, sep } from 'node:path'
import { isInside } from './confined-folder.ts'
import { isFileSystemError, Refusal } from './refusal.ts'

/** A file or folder that is open. */
export interface Opened {
  readonly handle: FileHandle
  /** Where it is: from the confined folder, with `/`. */
  readonly path: string
}

/** Without following a link, and without waiting for whoever writes to a pipe. */
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
