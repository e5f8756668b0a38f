import { hasCode } from '../base/unless-missing.ts'
import { chmodSync, closeSync, existsSync, fchmodSync, mkdirSync, openSync, statSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'

const privateMode = 0o600

/**
 * Creates an empty file for its owner alone, whatever the umask. Never opens an existing one: closing a second descriptor of
 * a database would drop the locks that this process has on it.
 */
export function createPrivately(file: string): void {
  try {
    write(file, 'wx')
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

/** Writes or overwrites a file for its owner alone, whatever the umask. */
export function writePrivately(file: string, text: string): void {
  write(file, 'w', text)
}

function write(file: string, flags: 'w' | 'wx', text = ''): void {
  const descriptor = openSync(file, flags, privateMode)
  try {
    fchmodSync(descriptor, privateMode)
    writeFileSync(descriptor, text)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Makes a folder and its missing parents for their owner alone, whatever the umask. Step by step: Node's recursive form never
 * ends below an existing folder in which nothing can be made, like `/proc`.
 */
export function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (existsSync(folder)) return
    throw error
  }
  chmodSync(folder, 0o700)
}

/** Tells by device and inode whether a path still leads to the same file, and by its size whether that was cut. */
export class FileIdentity {
  readonly path: string
  readonly #device: number | undefined
  readonly #inode: number | undefined
  readonly #mostBytes: number
  #leastBytes: number

  /** @param mostBytes its owner may shorten it, and never below this. @default it only grows */
  constructor(path: string, mostBytes = Infinity) {
    this.path = path
    this.#mostBytes = mostBytes
    const { dev, ino, size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
    this.#device = dev
    this.#inode = ino
    this.#leastBytes = Math.min(size, mostBytes)
  }

  get isInPlace(): boolean {
    return this.look() === undefined
  }

  /** What something else has done to the file since the last look; `undefined`: nothing. Costs one `stat`. */
  look(): 'removed or replaced' | 'cut' | undefined {
    const found = statSync(this.path, { throwIfNoEntry: false })
    if (found === undefined || found.ino !== this.#inode || found.dev !== this.#device) return 'removed or replaced'
    if (found.size < this.#leastBytes) return 'cut'
    this.#leastBytes = Math.min(found.size, this.#mostBytes)
    return undefined
  }
}

/** Makes new names in a folder durable. Windows opens no folders, and needs no such thing. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform !== 'win32') await using(await open(folder, 'r'), (handle) => handle.sync())
}

export async function using<T>(handle: FileHandle, act: (handle: FileHandle) => Promise<T>): Promise<T> {
  try {
    return await act(handle)
  } finally {
    await handle.close()
  }
}
