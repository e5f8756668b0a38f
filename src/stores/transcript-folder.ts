import { constants } from 'node:fs'
import { type FileHandle, open, rm, rmdir, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from './make-folder.ts'
import type { Append, Transcripts } from './medium.ts'
import type { TranscriptHit } from './port.ts'
import { explained } from './sqlite-connection.ts'
import { extended, lastLines, lineAt, linesIn, measured, noLines } from './transcript-file.ts'
import type { IndexedLine, Reach, TranscriptIndex } from './transcript-index.ts'
import { namesInTranscriptKey } from './transcript-key.ts'
import { assertReached, assertRepeated } from './transcript-order.ts'

/** Where an append meets what is there. */
interface Junction {
  readonly there: Reach
  /** Where its first line begins. */
  readonly fromByte: number
}

/**
 * The transcripts of a root as files in a folder of its own, and an index of their words. The files alone say which lines
 * there are. A line is in its file before it is in the index, so an append that was cut short between the two is made
 * whole by repeating it.
 */
export class TranscriptFolder implements Transcripts {
  readonly #folder: string
  readonly #index: () => TranscriptIndex

  /** @param folder an absolute path; made with the first transcript */
  constructor(folder: string, index: () => TranscriptIndex) {
    this.#folder = folder
    this.#index = index
  }

  append(append: Append): Promise<void> {
    return this.#explain(append.key, async (file) => {
      const known = this.#index().reach(append.key)
      const junction = await this.#join(file, append, known ?? noLines)
      try {
        await this.#write(file, append, junction, known === undefined)
      } catch (error) {
        await this.#takeBack(file, junction.there)
        throw error
      }
    })
  }

  read(key: string): Promise<readonly string[] | undefined> {
    return this.#explain(key, async (file) => {
      const lines = await whereThere(file, async (handle) => linesIn(await handle.readFile()))
      return lines?.length === 0 ? undefined : lines
    })
  }

  async search(keys: readonly string[], words: readonly string[], limit: number): Promise<readonly TranscriptHit[]> {
    const hits: TranscriptHit[] = []
    for (const { key, line, startByte, sizeBytes } of this.#index().search(keys, words, limit)) {
      const text = await this.#explain(key, (file) =>
        whereThere(file, (handle) => lineAt(handle, startByte, sizeBytes)),
      )
      // A file that was cut or changed by somebody else has nothing there.
      if (text !== undefined) hits.push({ key, index: line, text })
    }
    return hits
  }

  remove(key: string): Promise<void> {
    return this.#explain(key, async (file) => {
      this.#index().remove(key)
      await rm(file, { force: true })
      await this.#removeEmptyFolders(dirname(file))
    })
  }

  /** @throws `invalid-argument` */
  async #join(file: string, append: Append, known: Reach): Promise<Junction> {
    const junction = await whereThere(file, async (handle) => {
      const there = await measured(handle, known)
      assertReached(append, there.lines, file)
      const behind = await lastLines(handle, there, there.lines - append.from)
      assertRepeated(append, behind, file)
      return { there, fromByte: there.bytes - sum(behind.map(sizeOfLine)) }
    })
    if (junction === undefined) assertReached(append, noLines.lines, file)
    return junction ?? { there: noLines, fromByte: 0 }
  }

  async #write(file: string, append: Append, { there, fromByte }: Junction, isNew: boolean): Promise<void> {
    const { key, lines, from } = append
    if (there.lines === 0) makeFolder(dirname(file))
    const { O_CREAT, O_RDWR } = constants
    const reach = await using(await open(file, O_RDWR | O_CREAT, 0o600), async (handle) => {
      if (there.lines === 0) await handle.chmod(0o600)
      const added = lines.slice(there.lines - from)
      return extended(
        handle,
        there,
        added.map(({ text }) => text),
      )
    })
    // Until an append is done, nobody knows whether the names of the folders are durable.
    if (isNew) await this.#syncFolders(dirname(file))
    this.#index().add(key, there.lines, reach, indexedLines(append, fromByte))
  }

  /** What cannot be taken back either, whole lines or a part of one, is what a crash leaves: the next append goes on from it. */
  async #takeBack(file: string, there: Reach): Promise<void> {
    try {
      if (there.lines > 0) return await truncate(file, there.bytes)
      await rm(file, { force: true })
      await this.#removeEmptyFolders(dirname(file))
    } catch {
      // The error that made it necessary says more.
    }
  }

  /** From the folder of a file up to the one that all transcripts of the root lie in. */
  async #removeEmptyFolders(folder: string): Promise<void> {
    try {
      for (const place of this.#placesFrom(folder)) await rmdir(place)
    } catch (error) {
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error
    }
  }

  /** Makes new names durable. Windows opens no folders, and needs no such thing. */
  async #syncFolders(folder: string): Promise<void> {
    if (process.platform === 'win32') return
    for (const place of [...this.#placesFrom(folder), dirname(this.#folder)]) {
      await using(await open(place, 'r'), (handle) => handle.sync())
    }
  }

  #placesFrom(folder: string): readonly string[] {
    return folder === this.#folder ? [folder] : [folder, ...this.#placesFrom(dirname(folder))]
  }

  async #explain<T>(key: string, act: (file: string) => Promise<T>): Promise<T> {
    const file = join(this.#folder, ...namesInTranscriptKey(key))
    try {
      return await act(file)
    } catch (error) {
      throw explained(error, file)
    }
  }
}

function indexedLines({ lines, from }: Append, fromByte: number): readonly IndexedLine[] {
  let startByte = fromByte
  return lines.flatMap(({ text, searchable }, index) => {
    const at = { line: from + index, startByte, sizeBytes: Buffer.byteLength(text) }
    startByte += sizeOfLine(text)
    return searchable === undefined ? [] : [{ ...at, searchable }]
  })
}

function sizeOfLine(text: string): number {
  return Buffer.byteLength(text) + 1
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

async function whereThere<T>(file: string, act: (handle: FileHandle) => Promise<T>): Promise<T | undefined> {
  let handle
  try {
    handle = await open(file, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
  return using(handle, act)
}

async function using<T>(handle: FileHandle, act: (handle: FileHandle) => Promise<T>): Promise<T> {
  try {
    return await act(handle)
  } finally {
    await handle.close()
  }
}

function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
