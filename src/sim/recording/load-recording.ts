import { readFile } from 'node:fs/promises'
import type { z } from 'zod'
import { thrownMessage } from '../../rules/text/thrown-message.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { readSnapshot } from '../../world/restore.ts'
import { LinesHash } from '../../world/sha256.ts'
import { FileEnd, FileHead, fileFormat, RowLine, SnapshotLine, WorldHead } from './file-lines.ts'
import { RecordedWorld } from '../../engine/recording/recorded-worlds.ts'
import { type Recording, recordingWith, type SavedWorld } from '../../engine/recording/recording.ts'

const advice = 'Nothing was loaded: use another copy of the file, or save the recording again.'

/**
 * The recording that a file holds.
 *
 * @throws `invalid-argument` if there is no such file, or it is no recording; `newer-version`; `corrupt-journal` if it was cut
 * off or edited, with the line
 */
export async function loadRecording(file: string): Promise<Recording> {
  const lines = new FileLines(file, await bytesOf(file))
  const { root, worlds: names } = lines.next('the head of a recording', FileHead())
  const worlds = names.map((name) => readWorld(lines, name))
  const { end } = lines.next('the end of the recording', FileEnd(), true)
  lines.assertOver()
  if (end.lines !== lines.count || end.sha256 !== lines.sha256) throw edited(lines, worlds)
  if (worlds[0]?.name !== root) throw lines.corrupt(1, `expected the root world '${root}' to come first`)
  return recordingWith(
    root,
    worlds.map(({ name, snapshot, rows }) => ({ name, snapshot, rows })),
  )
}

/** A world of a file, and the line at which its snapshot begins. */
interface ReadWorld extends SavedWorld {
  readonly firstLine: number
}

function readWorld(lines: FileLines, name: string): ReadWorld {
  const { world, tick, snapshot, rows } = lines.next(`the head of world '${name}'`, WorldHead())
  if (world !== name) throw lines.corrupt(lines.count, `expected world '${name}', got '${world}'`)
  const firstLine = lines.count + 1
  const whole = times(snapshot, () => lines.next(`a line of the snapshot of '${name}'`, SnapshotLine()).line)
  const read = times(rows, () => lines.next(`a tick of world '${name}'`, RowLine()))
  return { name, firstLine, snapshot: { tick, lines: whole }, rows: read }
}

function times<T>(count: number, read: () => T): T[] {
  return Array.from({ length: count }, read)
}

/** What was edited, as exactly as it can be told: each tick proves those before it. */
function edited(lines: FileLines, worlds: readonly ReadWorld[]): EntiaError {
  for (const world of worlds) {
    const { name, firstLine, rows, snapshot } = world
    let read = 0
    try {
      const recorded = new RecordedWorld(world)
      readSnapshot(recorded.lines)
      try {
        for (const _ of recorded.steps()) read++
      } catch {
        const what = `tick ${rows[read]?.tick} of world '${name}' is not what was saved: it was edited`
        return lines.corrupt(firstLine + snapshot.lines.length + read, what)
      }
    } catch {
      return lines.corrupt(firstLine, `the snapshot of world '${name}' is not what was saved: it was edited`)
    }
  }
  return lines.corrupt(lines.count + 1, 'the checksum does not fit what stands before it: a line was edited')
}

async function bytesOf(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    const what = `There is no recording to be read in ${file}: ${thrownMessage(error)}`
    const how = 'Save one there with saveRecording(store, name, file), or check the path.'
    throw new EntiaError('invalid-argument', `${what}. ${how}`, { file }, { cause: error })
  }
}

/** The lines of a file, one after the other. */
class FileLines {
  readonly #file: string
  readonly #bytes: Buffer
  readonly #hash = new LinesHash()
  #from = 0
  /** How many were read, the end aside. */
  count = 0

  constructor(file: string, bytes: Buffer) {
    this.#file = file
    this.#bytes = bytes
  }

  get sha256(): string {
    return this.#hash.end()
  }

  /** The next line, which has to be this. */
  next<T>(what: string, schema: z.ZodType<T>, isEnd = false): T {
    const number = this.count + 1
    const to = this.#bytes.indexOf('\n', this.#from)
    if (to < 0) {
      const came = this.#from === this.#bytes.length ? 'the file ends there' : 'half a line'
      throw this.corrupt(number, `expected ${what}, got ${came}: it was cut off`)
    }
    const text = this.#bytes.toString('utf8', this.#from, to)
    this.#from = to + 1
    const result = schema.safeParse(this.#parsed(text, number, what))
    if (!result.success) {
      const [issue] = result.error.issues
      const at = issue === undefined || issue.path.length === 0 ? '' : ` at ${issue.path.join('.')}`
      throw this.corrupt(number, `expected ${what}; it is none${at} (${issue?.message})`)
    }
    if (!isEnd) {
      this.#hash.add(text)
      this.count = number
    }
    return result.data
  }

  assertOver(): void {
    if (this.#from < this.#bytes.length) throw this.corrupt(this.count + 2, 'there is more behind the end')
  }

  corrupt(line: number, what: string): EntiaError {
    return new EntiaError('corrupt-journal', `${this.#file}, line ${line}: ${what}. ${advice}`, {
      file: this.#file,
      line,
    })
  }

  #parsed(text: string, line: number, what: string): unknown {
    let parsed: unknown
    try {
      parsed = JSON.parse(text)
    } catch {
      if (line > 1) throw this.corrupt(line, `expected ${what}, got what is no JSON`)
    }
    if (line === 1) this.#assertFormat(parsed)
    return parsed
  }

  #assertFormat(head: unknown): void {
    const format = (head as { readonly entiaRecording?: unknown } | null | undefined)?.entiaRecording
    const details = { file: this.#file, line: 1 }
    if (typeof format !== 'number') {
      const what = `${this.#file} is no recording: its first line has no field 'entiaRecording'`
      throw new EntiaError('invalid-argument', `${what}. Name a file that saveRecording has written.`, details)
    }
    if (format <= fileFormat) return
    const what = `${this.#file} has format ${format} of recordings, this version reads up to ${fileFormat}`
    throw new EntiaError('newer-version', `${what}. Update entia.`, details)
  }
}
