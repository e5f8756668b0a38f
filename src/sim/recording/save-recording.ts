import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { z } from 'zod'
import type { Store } from '../../stores/port.ts'
import { thrownMessage } from '../../rules/text/thrown-message.ts'
import { EntiaError } from '../../world/entia-error.ts'
import { LinesHash } from '../../world/sha256.ts'
import {
  type FileEnd,
  type FileHead,
  fileFormat,
  type RowLine,
  type SnapshotLine,
  type WorldHead,
} from './file-lines.ts'
import { RecordedWorld } from '../../engine/recording/recorded-worlds.ts'
import { type Recording, recordingOf } from '../../engine/recording/recording.ts'

type LineOf<Schema extends () => z.ZodType> = z.infer<ReturnType<Schema>>
type Line =
  | LineOf<typeof FileHead>
  | LineOf<typeof WorldHead>
  | LineOf<typeof SnapshotLine>
  | LineOf<typeof RowLine>
  | LineOf<typeof FileEnd>

/** So many characters are written at once. */
const maxChunkChars = 1_000_000

/**
 * Saves the run of a root world, which was run with `record: true`, and of all its sessions in a file. Folders are made;
 * a file that is there is replaced once the new one is whole.
 *
 * @throws `no-such-world`; `world-locked` while a Runner drives it; `invalid-argument` if it was not recorded; `store-failed`
 * if the file cannot be written
 */
export async function saveRecording(store: Store, name: string, file: string): Promise<void> {
  const recording = await wholeRun(store, name)
  const folder = dirname(file)
  const draft = join(folder, `.${basename(file)}.${randomUUID()}`)
  try {
    await mkdir(folder, { recursive: true })
    await write(draft, recording)
    await rename(draft, file)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined)
    const what = `The recording of '${name}' cannot be written to ${file}: ${thrownMessage(error)}`
    throw new EntiaError(
      'store-failed',
      `${what}. Check the path, its rights and the room on the disk.`,
      { file },
      { cause: error },
    )
  }
}

async function wholeRun(store: Store, name: string): Promise<Recording> {
  const root = (await store.list()).find((info) => info.name === name)?.root
  if (root !== undefined) {
    const what = `World '${name}' is that of a session in the run of '${root}'`
    throw new EntiaError('invalid-argument', `${what}, and is saved with it: save the recording of '${root}'.`)
  }
  const recording = await recordingOf(store, name)
  for (const world of recording.worlds) assertRecorded(new RecordedWorld(world), name)
  return recording
}

/** Only a run with `record: true` keeps who wrote what, and all its ticks. */
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

async function write(file: string, recording: Recording): Promise<void> {
  const handle = await open(file, 'wx')
  try {
    let chunk = ''
    for (const line of textOf(recording)) {
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

function* textOf(recording: Recording): Generator<string> {
  const hash = new LinesHash()
  let lines = 0
  for (const line of linesOf(recording)) {
    const text = JSON.stringify(line)
    hash.add(text)
    lines++
    yield text
  }
  const end: Line = { end: { lines, sha256: hash.end() } }
  yield JSON.stringify(end)
}

function* linesOf({ root, worlds }: Recording): Generator<Line> {
  yield { entiaRecording: fileFormat, root, worlds: worlds.map(({ name }) => name) }
  for (const { name, snapshot, rows } of worlds) {
    yield { world: name, tick: snapshot.tick, snapshot: snapshot.lines.length, rows: rows.length }
    for (const line of snapshot.lines) yield { line }
    for (const { tick, line } of rows) yield { tick, line }
  }
}
