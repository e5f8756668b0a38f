import { Serial } from '../../base/serial.ts'
import { unlessMissing } from '../../base/unless-missing.ts'
import { createHash } from 'node:crypto'
import { appendFile, lstat, open, readdir, readFile, realpath, rm, rmdir, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { thrownMessage } from '../../base/thrown-message.ts'
import { makeFolders } from '../../tools/files/make-folders.ts'
import { makePrivateFolder } from '../config/folders.ts'
import type { FileTimes } from './file-times.ts'
import { putFile } from './put-file.ts'

/** A file that tools wrote, and what putting it back would do. */
export interface WrittenFile {
  /** Absolute, without links. */
  readonly path: string
  /** `remove`: it was not there before. */
  readonly action: 'put-back' | 'remove'
  /** `changed`: by another hand since the tools wrote it. `impossible`: it cannot be put back. */
  readonly state: 'as-written' | 'changed' | 'impossible'
  /** Of a file that is not as it was written. */
  readonly why?: string | undefined
}

/** A file after it was to be put back. */
export interface PutBackFile extends WrittenFile {
  readonly isDone: boolean
}

/** A write of a tool, noted before it happens. */
interface Write {
  readonly path: string
  /** Where the conversation was. */
  readonly seq: number
  /** SHA-256 of the content before; `null`: there was no file. Absent: it was too large to keep. */
  readonly before?: string | null
  readonly after: string
  /** Before; of a file that was there. */
  readonly mode?: number
  /** The outermost folder that was made for it. */
  readonly madeFolder?: string
}

/** What a tool is about to write. */
interface Written {
  /** Absolute, without links. */
  readonly path: string
  readonly content: string | Buffer
  /** The outermost folder that was made for it. Absent: all were there. */
  readonly madeFolder?: string | undefined
}

/** Largest content that is kept, and most bytes of all that is kept for a chat session. */
const maxFileBytes = 16 * 1024 * 1024
const maxKeptBytes = 256 * 1024 * 1024
/** A file above this size is none that tools have written. */
const maxComparedBytes = 64 * 1024 * 1024
const journalName = 'files.jsonl'
const writable = 0o222

/**
 * Keeps what files had in them before the tools of a chat session wrote them, in a folder of its own, so that they can be put
 * back: also by a later process.
 */
export class FileBackups {
  readonly #fileTimes: FileTimes
  #folder: string | undefined
  #place: () => number = () => 0
  #writes: Promise<Write[]> | undefined
  readonly #writing = new Serial()
  #hasWarned = false

  constructor(fileTimes: FileTimes) {
    this.#fileTimes = fileTimes
  }

  /** @param place where the conversation is: the `seq` of its last message */
  keepIn(folder: string, place: () => number): void {
    this.#folder = folder
    this.#place = place
  }

  /** Files can be put back: there is a folder to keep them in. */
  get isKeeping(): boolean {
    return this.#folder !== undefined
  }

  /** Does a write, and keeps first what it replaces. What cannot be kept is written all the same. */
  async around<T>(written: Written, write: () => Promise<T>): Promise<T> {
    const folder = this.#folder
    if (folder === undefined) return write()
    return this.#writing.run(async () => {
      await this.#keep(folder, written).catch((error: unknown) => this.#warn(written.path, error))
      return write()
    })
  }

  /** The files written behind a place of the conversation that are not as they were before, in order of their paths. */
  async writtenSince(seq: number): Promise<readonly WrittenFile[]> {
    const folder = this.#folder
    if (folder === undefined) return []
    return this.#writing.run(async () => (await this.#since(folder, seq)).map(({ file }) => file))
  }

  /** Puts back what `writtenSince` gives: what has changed since only if that is wanted. Run again, it does what is left. */
  async putBack(seq: number, withChanged: boolean): Promise<readonly PutBackFile[]> {
    const folder = this.#folder
    if (folder === undefined) return []
    return this.#writing.run(async () => {
      const done: PutBackFile[] = []
      for (const { file, write } of await this.#since(folder, seq)) {
        const isWanted = file.state === 'as-written' || (file.state === 'changed' && withChanged)
        done.push(isWanted ? await this.#restore(folder, file, write) : { ...file, isDone: false })
      }
      await this.#removeFolders(folder, seq)
      return done
    })
  }

  /** Folders that were made for files and have nothing in them any more, the innermost first. */
  async #removeFolders(folder: string, seq: number): Promise<void> {
    const writes = await this.#known(folder)
    const made = writes.flatMap(({ madeFolder, path, seq: at }) => {
      return at >= seq && madeFolder !== undefined ? foldersBetween(dirname(path), madeFolder) : []
    })
    for (const path of [...new Set(made)].toSorted((a, b) => b.length - a.length))
      await rmdir(path).catch(() => undefined)
  }

  async #keep(folder: string, { content, madeFolder, path }: Written): Promise<void> {
    const stats = await unlessMissing(stat(path))
    const after = hashOf(content)
    if (stats === undefined) {
      const more = madeFolder === undefined ? {} : { madeFolder }
      return this.#note(folder, { path, seq: this.#place(), before: null, after, ...more })
    }
    const mode = stats.mode & 0o7777
    const before = stats.size > maxFileBytes ? undefined : await readFile(path)
    if (before === undefined) return this.#note(folder, { path, seq: this.#place(), after, mode })
    const hash = hashOf(before)
    await makePrivateFolder(folder)
    await this.#makeRoom(folder, before.length)
    await keepBlob(join(folder, hash), before)
    await this.#note(folder, { path, seq: this.#place(), before: hash, after, mode })
  }

  async #note(folder: string, write: Write): Promise<void> {
    const writes = await this.#known(folder)
    await makePrivateFolder(folder)
    await appendFile(join(folder, journalName), `${JSON.stringify(write)}\n`, { mode: 0o600, flush: true })
    writes.push(write)
  }

  async #known(folder: string): Promise<Write[]> {
    return (this.#writes ??= readJournal(join(folder, journalName)))
  }

  /** Forgets the oldest contents until another one fits. */
  async #makeRoom(folder: string, bytes: number): Promise<void> {
    const sizes = new Map<string, number>()
    for (const name of await readdir(folder)) {
      const size = /^[0-9a-f]{64}$/.test(name) ? (await unlessMissing(stat(join(folder, name))))?.size : undefined
      if (size !== undefined) sizes.set(name, size)
    }
    let total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
    for (const { before } of await this.#known(folder)) {
      if (total + bytes <= maxKeptBytes) return
      const size = typeof before === 'string' ? sizes.get(before) : undefined
      if (size === undefined) continue
      sizes.delete(before as string)
      await rm(join(folder, before as string), { force: true })
      total -= size
    }
  }

  async #since(folder: string, seq: number): Promise<readonly { readonly file: WrittenFile; readonly write: Write }[]> {
    const writes = await this.#known(folder)
    const first = new Map<string, Write>()
    const last = new Map<string, Write>()
    for (const write of writes) {
      if (write.seq >= seq && !first.has(write.path)) first.set(write.path, write)
      last.set(write.path, write)
    }
    const found = await Promise.all(
      Array.from(first.values(), async (write) => {
        const file = await judged(folder, write, last.get(write.path)?.after ?? write.after)
        return file === undefined ? [] : [{ file, write }]
      }),
    )
    return found.flat().toSorted((a, b) => (a.file.path < b.file.path ? -1 : 1))
  }

  async #restore(folder: string, file: WrittenFile, { before, mode, path }: Write): Promise<PutBackFile> {
    try {
      if (file.action === 'remove') {
        await unlink(path)
        return { ...file, isDone: true }
      }
      const content = await readFile(join(folder, before as string))
      await makeFolders(dirname(path))
      await this.#keep(folder, { path, content }).catch((error: unknown) => this.#warn(path, error))
      await putFile(path, content, mode)
      const handle = await open(path)
      try {
        this.#fileTimes.note(path, await handle.stat({ bigint: true }))
      } finally {
        await handle.close()
      }
      return { ...file, isDone: true }
    } catch (error) {
      return { ...file, state: 'impossible', why: thrownMessage(error), isDone: false }
    }
  }

  #warn(path: string, error: unknown): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    const what = `What ${path} had in it cannot be kept, so that it cannot be put back`
    process.emitWarning(`${what}: ${thrownMessage(error)}`, 'EntiaWarning')
  }
}

/** What is to be done about a file; `undefined`: it is as it was before. @param after what the tools wrote last */
async function judged(folder: string, write: Write, after: string): Promise<WrittenFile | undefined> {
  const { before, mode = 0o666, path } = write
  const action = before === null ? 'remove' : 'put-back'
  const impossible = (why: string): WrittenFile => ({ path, action, state: 'impossible', why })
  try {
    const place = await unlessMissing(realpath(dirname(path)))
    if (place !== undefined && place !== dirname(path)) return impossible('its folder is a link now')
    const stats = await unlessMissing(lstat(path))
    if (stats === undefined) {
      if (before === null) return undefined
      return (await missingBlob(folder, before)) ?? { path, action, state: 'changed', why: 'deleted since' }
    }
    if (stats.isDirectory()) return impossible('it is a folder now')
    if (!stats.isFile()) return impossible('it is no regular file now')
    const now = stats.size > maxComparedBytes ? undefined : hashOf(await readFile(path))
    if (now !== undefined && now === before) return undefined
    const unkept = await missingBlob(folder, before)
    if (unkept !== undefined) return unkept
    if (now !== after) return { path, action, state: 'changed', why: 'changed since by another hand' }
    const isLocked = (stats.mode & writable) === 0 && (mode & writable) !== 0
    return isLocked
      ? { path, action, state: 'changed', why: 'made read-only since' }
      : { path, action, state: 'as-written' }
  } catch (error) {
    return impossible(thrownMessage(error))
  }

  async function missingBlob(where: string, hash: string | null | undefined): Promise<WrittenFile | undefined> {
    if (hash === null) return undefined
    if (hash === undefined) return impossible('it was too large to keep')
    const isKept = (await unlessMissing(stat(join(where, hash)))) !== undefined
    return isKept ? undefined : impossible('what it had in it is not kept any more')
  }
}

/** A folder and those above it, up to the outermost. */
function foldersBetween(inner: string, outer: string): readonly string[] {
  const folders: string[] = []
  for (let folder = inner; folder.startsWith(outer); folder = dirname(folder)) {
    folders.push(folder)
    if (folder === outer) return folders
  }
  return []
}

/** The content under its hash: one that is there is whole. */
async function keepBlob(path: string, content: Buffer): Promise<void> {
  if ((await unlessMissing(stat(path))) !== undefined) return
  const { default: writeFileAtomic } = await import('write-file-atomic')
  await writeFileAtomic(path, content, { mode: 0o600 })
}

/** A line that a crash cut off is left out. */
async function readJournal(path: string): Promise<Write[]> {
  const text = (await unlessMissing(readFile(path, 'utf8'))) ?? ''
  return text.split('\n').flatMap((line) => {
    try {
      const write = JSON.parse(line) as Write
      return typeof write.path === 'string' && typeof write.seq === 'number' ? [write] : []
    } catch {
      return []
    }
  })
}

function hashOf(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}
