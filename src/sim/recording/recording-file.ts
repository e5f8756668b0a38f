import { misuse } from '../describe-value.ts'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { z } from 'zod'
import { thrownMessage } from '../../base/thrown-message.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { readSnapshot } from '../../world/restore.ts'
import { LinesHash } from '../../base/sha256.ts'
import { RecordedWorld } from '../../engine/recording/recorded-worlds.ts'
import { type Recording, recordingOf, recordingWith } from '../../engine/recording/recording.ts'
import { lazily } from '../../base/lazily.ts'
import { randomUUID } from 'node:crypto'
import type { RunFacts } from '../../inspector/reading/wire.ts'
import { runFacts, type RunFactsDetails } from '../run-facts.ts'
import type { SimulationResult } from '../simulate.ts'
import { basename, dirname, join } from 'node:path'
import { makeFolders } from '../../tools/files/make-folders.ts'
import type { Store } from '../../stores/port.ts'

/**
 * Version of the file format. In format 1 no world notes the version of entia that recorded it; in format 3 the first line may say
 * what a simulation found.
 */
const fileFormat = 3

const natural = lazily(() => z.number().int().nonnegative())

/** First line. The root world comes first. */
const FileHead = lazily(() =>
  z.strictObject({
    entiaRecording: z.union([z.literal(1), z.literal(2), z.literal(fileFormat)]),
    /** Of a simulation: what it found. */
    run: z.record(z.string(), z.json()).optional(),
    root: z.string().min(1),
    worlds: z.array(z.string().min(1)).min(1),
  }),
)

/** What a simulation found, as far as it must be there. */
const RunHead = lazily(() =>
  z.looseObject({
    name: z.string(),
    seed: z.number(),
    atMs: z.number(),
    laws: z.array(z.looseObject({ name: z.string(), looks: z.number() })),
    faults: z.array(z.looseObject({ atMs: z.number(), name: z.string(), facts: z.record(z.string(), z.json()) })),
    violation: z
      .looseObject({ law: z.string(), message: z.string(), world: z.string(), tick: z.number(), atMs: z.number() })
      .optional(),
    test: z.string().optional(),
    canShrink: z.boolean(),
  }),
)

/** Begins a world: the numbers of snapshot lines and rows that follow. */
const WorldHead = lazily(() =>
  z.strictObject({ world: z.string(), tick: natural(), snapshot: natural().min(1), rows: natural() }),
)

const SnapshotLine = lazily(() => z.strictObject({ line: z.string() }))

const RowLine = lazily(() => z.strictObject({ tick: natural(), line: z.string() }))

/** Last line: the number of lines before it, and their SHA-256. */
const FileEnd = lazily(() =>
  z.strictObject({ end: z.strictObject({ lines: natural(), sha256: z.string().length(64) }) }),
)

const copyAdvice = 'Nothing was loaded: use another copy of the file, or save the recording again.'

/**
 * @throws `invalid-argument` if the file is missing or is no recording; `newer-version`; `corrupt-journal`, with the
 * line, if it was cut off or edited
 */
export async function loadRecording(file: string): Promise<Recording> {
  return (await loadRun(file)).recording
}

/** A run in a file. */
export interface SavedRun {
  readonly recording: Recording
  /** What a simulation found; absent: a program made the recording. */
  readonly run?: RunFacts | undefined
}

/** Reads a recording, or a run that `saveRun` has written. @throws as `loadRecording` */
export async function loadRun(file: string): Promise<SavedRun> {
  const lines = new FileLines(file, await bytesOf(file))
  const { root, run, worlds: names } = lines.next('the head of a recording', FileHead())
  const worlds = names.map((name) => readWorld(lines, name))
  const { end } = lines.next('the end of the recording', FileEnd(), true)
  lines.assertOver()
  if (end.lines !== lines.count || end.sha256 !== lines.sha256) throw edited(lines, worlds)
  if (worlds[0]?.name !== root) throw lines.corrupt(1, `expected the root world '${root}' to come first`)
  const recording = recordingWith(
    root,
    worlds.map(({ name, snapshot, rows }) => ({ name, snapshot, rows })),
  )
  return run === undefined ? { recording } : { recording, run: factsIn(run, lines) }
}

/** What the page needs of it; all else is shown as it is. */
function factsIn(run: Readonly<Record<string, unknown>>, lines: FileLines): RunFacts {
  const { data, success } = RunHead().safeParse(run)
  if (success) return data
  throw lines.corrupt(1, 'what it says of the run is not what a simulation says')
}

function readWorld(lines: FileLines, name: string) {
  const { world, tick, snapshot, rows } = lines.next(`the head of world '${name}'`, WorldHead())
  if (world !== name) throw lines.corrupt(lines.count, `expected world '${name}', got '${world}'`)
  const firstLine = lines.count + 1
  const snapshotLine = () => lines.next(`a line of the snapshot of '${name}'`, SnapshotLine()).line
  const saved = { tick, lines: Array.from({ length: snapshot }, snapshotLine) }
  const row = () => lines.next(`a tick of world '${name}'`, RowLine())
  return { name, firstLine, snapshot: saved, rows: Array.from({ length: rows }, row) }
}

/** Finds the edited line as exactly as possible: each tick proves those before it. */
function edited(lines: FileLines, worlds: readonly ReturnType<typeof readWorld>[]): EntiaError {
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

class FileLines {
  readonly #file: string
  readonly #bytes: Buffer
  readonly #hash = new LinesHash()
  #from = 0
  /** Lines read, without the end. */
  count = 0

  constructor(file: string, bytes: Buffer) {
    this.#file = file
    this.#bytes = bytes
  }

  get sha256(): string {
    return this.#hash.end()
  }

  next<T>(what: string, schema: z.ZodType<T>, isEnd = false): T {
    const number = this.count + 1
    const to = this.#bytes.indexOf('\n', this.#from)
    if (to < 0) {
      const got = this.#from === this.#bytes.length ? 'the file ends there' : 'half a line'
      throw this.corrupt(number, `expected ${what}, got ${got}: it was cut off`)
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
    return new EntiaError('corrupt-journal', `${this.#file}, line ${line}: ${what}. ${copyAdvice}`, {
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

const maxChunkChars = 1_000_000

/** Writes a simulated run to a file, which `entia inspect` opens and `entia replay` replays. @throws `store-failed` */
export async function saveRun(result: SimulationResult, file: string, details: RunFactsDetails = {}): Promise<void> {
  const worlds = result.recorded()
  const recording = recordingWith(result.world.name, worlds)
  await writeFile(file, recording, runFacts(result, details))
}

/**
 * Saves the run of a root world and its sessions, run with `record: true`. Creates folders, and replaces the file once
 * the new one is complete.
 * @throws `no-such-world`; `world-locked` while a Runner drives it; `invalid-argument` if it was not recorded;
 * `store-failed` if writing fails
 */
export async function saveRecording(store: Store, name: string, file: string): Promise<void> {
  await writeFile(file, await wholeRun(store, name))
}

/** Whole, or not at all. @throws `store-failed` */
async function writeFile(file: string, recording: Recording, run?: RunFacts): Promise<void> {
  const folder = dirname(file)
  const draft = join(folder, `.${basename(file)}.${randomUUID()}`)
  try {
    await makeFolders(folder)
    await write(draft, recording, run)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    const what = `The recording of '${recording.root}' cannot be written to ${file}: ${thrownMessage(error)}`
    const how = 'Check the path, its rights and the room on the disk.'
    throw new EntiaError('store-failed', `${what}. ${how}`, { file }, { cause: error })
  }
}

async function wholeRun(store: Store, name: string): Promise<Recording> {
  const root = (await store.list()).find((info) => info.name === name)?.root
  if (root !== undefined) {
    const what = `World '${name}' is that of a session in the run of '${root}'`
    throw misuse(`${what}, and is saved with it: save the recording of '${root}'.`)
  }
  const recording = await recordingOf(store, name)
  for (const world of recording.worlds) assertRecorded(new RecordedWorld(world), name)
  return recording
}

/** Only a run with `record: true` keeps all ticks and their writers. */
function assertRecorded(recorded: RecordedWorld, root: string): void {
  const { name: world } = recorded
  for (const { delta, writers } of recorded.steps()) {
    if (writers !== undefined) continue
    const { tick } = delta
    const what = `Tick ${tick} of world '${world}' was run without record: true, so the run of '${root}' cannot be saved`
    const advice = 'Run it from its beginning with run(world, { store, record: true, … }), and save that run'
    throw new EntiaError('invalid-argument', `${what}. ${advice}.`, { world, tick })
  }
}

async function write(file: string, recording: Recording, run: RunFacts | undefined): Promise<void> {
  const handle = await open(file, 'wx')
  try {
    let chunk = ''
    for (const line of textOf(recording, run)) {
      chunk += `${line}\n`
      if (chunk.length < maxChunkChars) continue
      await handle.writeFile(chunk)
      chunk = ''
    }
    await handle.writeFile(chunk)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function* textOf(recording: Recording, run: RunFacts | undefined): Generator<string> {
  const hash = new LinesHash()
  let lines = 0
  for (const line of linesOf(recording, run)) {
    const text = JSON.stringify(line)
    hash.add(text)
    lines++
    yield text
  }
  yield JSON.stringify({ end: { lines, sha256: hash.end() } })
}

function* linesOf({ root, worlds }: Recording, run: RunFacts | undefined): Generator<object> {
  // Without facts of a run, earlier versions read the file as well.
  yield {
    entiaRecording: run === undefined ? 2 : fileFormat,
    ...(run !== undefined && { run }),
    root,
    worlds: worlds.map(({ name }) => name),
  }
  for (const { name, snapshot, rows } of worlds) {
    yield { world: name, tick: snapshot.tick, snapshot: snapshot.lines.length, rows: rows.length }
    for (const line of snapshot.lines) yield { line }
    for (const { tick, line } of rows) yield { tick, line }
  }
}
