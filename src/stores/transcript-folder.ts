import { constants } from 'node:fs'
import { type FileHandle, open, rm, rmdir, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hasCode, unlessMissing } from '../base/unless-missing.ts'
import { makeFolder, syncFolder, using } from './files.ts'
import type { Append, Transcripts } from './medium.ts'
import { assertReached, assertRepeated } from './order.ts'
import { namesInTranscriptKey } from './check-arguments.ts'
import type { TranscriptHit } from './port.ts'
import { explained } from './sqlite-connection.ts'
import type { FoundLine, IndexedLine, Reach, TranscriptIndex } from './transcript-index.ts'

const lineBreak = 0x0a
const chunkBytes = 64 * 1024

/** Of a transcript that is not there. */
const noLines: Reach = { lines: 0, bytes: 0 }

/** Where an append meets what is there. */
interface Junction {
  readonly there: Reach
  /** Where its first line begins. */
  readonly fromByte: number
}

/**
 * The transcripts of a root as files in a folder of its own, and an index of their words. The files alone say which lines
 * there are. A line is in the index before it is in its file, so what is there can be found, whenever the process ends; what
 * the index has too much is passed over, and the next append forgets it.
 */
export class TranscriptFolder implements Transcripts {
  readonly #folder: string
  readonly #index: () => TranscriptIndex
  /** How far a transcript is behind an append of this object. */
  readonly #reaches = new Map<string, Reach>()

  /** @param folder an absolute path; made with the first transcript */
  constructor(folder: string, index: () => TranscriptIndex) {
    this.#folder = folder
    this.#index = index
  }

  append(append: Append): Promise<void> {
    return this.#explain(append.key, async (file) => {
      const known = this.#reaches.get(append.key) ?? this.#index().reach(append.key) ?? noLines
      const { there, fromByte } = await this.#join(file, append, known)
      this.#index().announce(append.key, there, indexedLines(append, fromByte))
      try {
        this.#reaches.set(append.key, await this.#write(file, append, there))
        // Until an append is done, the names of the folders may not be durable.
        const folders = known.lines === 0 ? [...this.#placesFrom(dirname(file)), dirname(this.#folder)] : []
        for (const folder of folders) await syncFolder(folder)
      } catch (error) {
        await this.#takeBack(append.key, file, there)
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
    // Where some are passed over, others take their places.
    for (let maxFound = limit; ; maxFound *= 2) {
      const found = this.#index().search(keys, words, maxFound)
      const hits = await this.#read(found)
      if (hits.length >= limit || found.length < maxFound) return hits.slice(0, limit)
    }
  }

  remove(key: string): Promise<void> {
    return this.#explain(key, async (file) => {
      await this.#removeFile(key, file)
      // Last, since a full disk may refuse it; what it has of a removed file is skipped.
      this.#index().remove(key)
    })
  }

  async #read(found: readonly FoundLine[]): Promise<readonly TranscriptHit[]> {
    const hits: TranscriptHit[] = []
    for (const { key, line, startByte, sizeBytes } of found) {
      const text = await this.#explain(key, (file) =>
        whereThere(file, (handle) => lineAt(handle, startByte, sizeBytes)),
      )
      if (text !== undefined) hits.push({ key, index: line, text })
    }
    return hits
  }

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

  async #write(file: string, { lines, from }: Append, there: Reach): Promise<Reach> {
    if (there.lines === 0) makeFolder(dirname(file))
    const { O_CREAT, O_RDWR } = constants
    return using(await open(file, O_RDWR | O_CREAT, 0o600), async (handle) => {
      if (there.lines === 0) await handle.chmod(0o600)
      const added = lines.slice(there.lines - from).map(({ text }) => text)
      return extended(handle, there, added)
    })
  }

  /** What cannot be taken back either, whole lines or a part of one, is what a crash leaves: the next append goes on from it. */
  async #takeBack(key: string, file: string, there: Reach): Promise<void> {
    try {
      if (there.lines === 0) {
        await this.#removeFile(key, file)
        this.#index().remove(key)
      } else {
        this.#reaches.delete(key)
        await truncate(file, there.bytes)
        this.#index().announce(key, there, [])
      }
    } catch {
      // The error of the append says more.
    }
  }

  async #removeFile(key: string, file: string): Promise<void> {
    this.#reaches.delete(key)
    try {
      await rm(file, { force: true })
    } catch (error) {
      // A file stands where one of its folders would: then there is no such file.
      if (!hasCode(error, 'ENOTDIR')) throw error
    }
    await this.#removeEmptyFolders(dirname(file))
  }

  /** From the folder of a file up to the one that all transcripts of the root lie in. */
  async #removeEmptyFolders(folder: string): Promise<void> {
    try {
      for (const place of this.#placesFrom(folder)) await rmdir(place)
    } catch (error) {
      if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error
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
  const handle = await unlessMissing(open(file, 'r'))
  return handle === undefined ? undefined : using(handle, act)
}

/**
 * How far an open transcript goes. What stands behind its last line break was left by a crash, and counts for nothing.
 * @param known how far it was, so that what stands before that is not read again; of a file that is shorter by now, or
 * has no line ending there, all is read
 */
async function measured(file: FileHandle, known: Reach): Promise<Reach> {
  const { size } = await file.stat()
  const isAsKnown = known.bytes > 0 && (await readBytes(file, known.bytes - 1, 1))[0] === lineBreak
  let { lines, bytes } = isAsKnown ? known : noLines
  for (let at = bytes; at < size; at += chunkBytes) {
    const chunk = await readBytes(file, at, chunkBytes)
    for (let end = chunk.indexOf(lineBreak); end !== -1; end = chunk.indexOf(lineBreak, end + 1)) {
      lines++
      bytes = at + end + 1
    }
  }
  return { lines, bytes }
}

async function lastLines(file: FileHandle, { bytes }: Reach, count: number): Promise<readonly string[]> {
  if (count === 0) return []
  for (let sizeBytes = Math.min(chunkBytes, bytes); ; sizeBytes = Math.min(4 * sizeBytes, bytes)) {
    const text = await readBytes(file, bytes - sizeBytes, sizeBytes)
    const found = linesIn(text)
    // What stands before its first line break may be a part of a line.
    if (found.length > count || sizeBytes === bytes) return found.slice(-count)
  }
}

function linesIn(text: Buffer): readonly string[] {
  const end = text.lastIndexOf(lineBreak)
  return end === -1 ? [] : text.toString('utf8', 0, end).split('\n')
}

async function lineAt(file: FileHandle, startByte: number, sizeBytes: number): Promise<string | undefined> {
  const text = await readBytes(file, startByte, sizeBytes + 1)
  return text.indexOf(lineBreak) === sizeBytes ? text.toString('utf8', 0, sizeBytes) : undefined
}

/** Writes lines behind the whole ones, over what a crash has left there. Durable when resolved. */
async function extended(file: FileHandle, there: Reach, texts: readonly string[]): Promise<Reach> {
  await file.truncate(there.bytes)
  const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''))
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, there.bytes + written)
    written += bytesWritten
  }
  await file.sync()
  return { lines: there.lines + texts.length, bytes: there.bytes + bytes.length }
}

async function readBytes(file: FileHandle, at: number, sizeBytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(sizeBytes), 0, sizeBytes, at)
  return buffer.subarray(0, bytesRead)
}
