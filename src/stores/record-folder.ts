import { isMissing } from '../base/unless-missing.ts'
import { thrownMessage } from '../base/thrown-message.ts'
import { randomUUID } from 'node:crypto'
import { lstat, open, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import PQueue from 'p-queue'
import { EntiaError } from '../base/entia-error.ts'
import { namesInKey } from './check-arguments.ts'
import { makeFolder, syncFolder, using } from './files.ts'
import { readPart, type RecordPart, type RecordRange, type Records } from './records.ts'

/** Far below what systems let one process have open. */
const maxOpenFiles = 32

/** A folder of records. No key leads out of it: not by its names, and not through links in the folder. */
export class RecordFolder implements Records {
  readonly #folder: string
  readonly #turns = new PQueue({ concurrency: maxOpenFiles })

  constructor(workingFolder: string, folder: string) {
    this.#folder = resolve(workingFolder, folder)
  }

  put(key: string, text: string): Promise<void> {
    return this.#inTurn(key, async (names) => {
      const file = join(this.#folder, ...names)
      const folder = dirname(file)
      makeFolder(this.#folder)
      for (const place of this.#placesOn(names.slice(0, -1))) {
        makeFolder(place)
        await refuseLink(place, key)
      }
      await writeWhole(file, join(folder, `.${randomUUID()}.tmp`), text)
      await syncFolder(folder)
    })
  }

  get(key: string, range: RecordRange = {}): Promise<RecordPart | undefined> {
    return this.#inTurn(key, async (names) => {
      try {
        for (const place of this.#placesOn(names)) await refuseLink(place, key)
        return await readFile(join(this.#folder, ...names), range)
      } catch (error) {
        if (isMissing(error)) return undefined
        throw error
      }
    })
  }

  async #inTurn<T>(key: string, act: (names: readonly string[]) => Promise<T>): Promise<T> {
    const names = namesInKey(key)
    try {
      return await this.#turns.add(() => act(names))
    } catch (error) {
      if (error instanceof EntiaError) throw error
      const cause = thrownMessage(error)
      throw new EntiaError(
        'store-failed',
        `The record '${key}' in ${this.#folder} cannot be used: ${cause}. ` +
          'Mend the cause (space, permissions, disk) and try again.',
        { folder: this.#folder, key, cause },
        { cause: error },
      )
    }
  }

  #placesOn(names: readonly string[]): readonly string[] {
    return names.map((_, index) => join(this.#folder, ...names.slice(0, index + 1)))
  }
}

async function readFile(file: string, range: RecordRange): Promise<RecordPart | undefined> {
  return using(await open(file, 'r'), async (handle) => {
    const stats = await handle.stat()
    if (!stats.isFile()) return undefined
    return readPart(range, stats.size, async (from, to) => {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(to - from), 0, to - from, from)
      return buffer.subarray(0, bytesRead)
    })
  })
}

/** Under its name there is all of it or what was there before, whenever the power fails. */
async function writeWhole(file: string, temporaryFile: string, text: string): Promise<void> {
  try {
    await using(await open(temporaryFile, 'wx', 0o600), async (handle) => {
      await handle.writeFile(text)
      await handle.sync()
    })
    await rename(temporaryFile, file)
  } catch (error) {
    await rm(temporaryFile, { force: true }).catch(() => undefined)
    throw error
  }
}

async function refuseLink(place: string, key: string): Promise<void> {
  if (!(await lstat(place)).isSymbolicLink()) return
  throw new EntiaError(
    'invalid-argument',
    `The key '${key}' leads through the link ${place}, and no record may lead out of its folder. Remove the link.`,
    { key, place },
  )
}
