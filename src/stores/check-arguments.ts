import { EntiaError } from '../base/entia-error.ts'
import { shortly } from '../base/known-options.ts'
import {
  checkOptions,
  countFromZero,
  filledText,
  flag,
  listOf,
  refuseMisfit,
  type ShapesOf,
  table,
  text,
} from '../base/option-shapes.ts'
import type { Append, Write } from './medium.ts'
import { maxLetterBytes, type Post, type SharedBatch, type TranscriptLine } from './port.ts'

const transcriptSuffix = '.jsonl'

/** The names in the key of a record. @throws `invalid-argument` for one that leads elsewhere, here or on another system */
export function namesInKey(key: string): readonly string[] {
  const names = safeNames(key)
  if (names !== undefined) return names
  throw unsafeKey('record', '', key)
}

/** The same for a transcript. Only its last name has the suffix, so no transcript lies where another one needs a folder. */
export function namesInTranscriptKey(key: string): readonly string[] {
  const names = safeNames(key)
  const isFile = names?.findIndex((name) => name.endsWith(transcriptSuffix)) === (names?.length ?? 0) - 1
  if (names !== undefined && isFile) return names
  throw unsafeKey('transcript', `, of which only the last ends in ${transcriptSuffix}`, key)
}

function safeNames(key: string): readonly string[] | undefined {
  if (typeof key !== 'string' || !key.isWellFormed()) return undefined
  const names = key.split('/')
  return names.every((name) => !['', '.', '..'].includes(name) && !/[\\:\0]/.test(name)) ? names : undefined
}

function unsafeKey(what: 'record' | 'transcript', more: string, key: unknown): EntiaError {
  const got = typeof key === 'string' ? JSON.stringify(key) : typeof key
  return new EntiaError(
    'invalid-argument',
    `The key of a ${what} must be a relative path of names with / between them, none of them . or .. and without ` +
      `backslash, colon and NUL${more}, got ${got}.`,
    { key },
  )
}

export function assertName(name: string): void {
  if (typeof name === 'string' && name !== '') return
  throw new EntiaError('invalid-argument', `The name of a world must be a non-empty string, got ${shortly(name)}.`)
}

export function assertTextKey(key: string): void {
  assertWellFormed('key', key)
  if (key === '') throw new EntiaError('invalid-argument', 'The key of a text must not be empty.')
}

/** Refuses text that would not be read back as it was given. */
export function assertWellFormed(what: 'key' | 'text', value: string): void {
  if (typeof value === 'string' && value.isWellFormed()) return
  const got = typeof value === 'string' ? 'half a surrogate pair in it' : typeof value
  throw new EntiaError(
    'invalid-argument',
    `The ${what} of a stored text must be well-formed text, got ${got}. value.toWellFormed() makes it so.`,
  )
}

export function assertWhole(what: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return
  throw new EntiaError('invalid-argument', `${what} must be an integer ≥ ${least}, got ${shortly(value)}.`)
}

/** Refuses a line that would not be read back as it was given, before it fails others that are written with it. */
function assertLine(line: string, where: string, details: Readonly<Record<string, unknown>>): void {
  if (typeof line === 'string' && !line.includes('\n') && line.isWellFormed()) return
  const got =
    typeof line !== 'string' ? typeof line : line.isWellFormed() ? 'a line break in it' : 'half a surrogate pair'
  throw new EntiaError(
    'invalid-argument',
    `A line of ${where} must be one line of well-formed text, got ${got}. JSON.stringify makes such lines.`,
    details,
  )
}

/** A copy: what the caller does with its own afterwards changes nothing. */
export function checkedAppend(key: string, lines: readonly TranscriptLine[], from: number): Append {
  namesInTranscriptKey(key)
  assertWhole('The place of the first line of an append', from, 0)
  const copies = lines.map((line) => {
    refuseMisfit('appendTranscript', 'lines', line, table)
    if (line.searchable !== undefined) refuseMisfit('appendTranscript', 'searchable', line.searchable, text)
    return { text: line.text, searchable: line.searchable }
  })
  for (const [index, copy] of copies.entries()) {
    assertLine(copy.text, `the transcript '${key}', ${from + index} from 0,`, { key, line: from + index })
  }
  return { key, lines: copies, from }
}

const batchShapes: ShapesOf<SharedBatch> = {
  rows: {
    wanted: 'a list of { tick, line }',
    fits: (value) => Array.isArray(value) && Array.from(value, hasTick).every(Boolean),
  },
  snapshot: {
    wanted: '{ tick, lines }',
    fits: (value) => hasTick(value) && isIterable((value as { readonly lines?: unknown }).lines),
  },
  isBusy: flag,
  taken: {
    wanted: 'a list of ids of letters',
    fits: (value) => Array.isArray(value) && value.every(countFromZero.fits),
  },
  sent: listOf(table),
}

function isIterable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Symbol.iterator in value
}

function hasTick(value: unknown): boolean {
  return typeof value === 'object' && value !== null && countFromZero.fits((value as { readonly tick?: unknown }).tick)
}

/** A copy of a letter. @throws `invalid-argument` */
export function checkedPost({ id, line, root, world }: Post): Post {
  assertName(world)
  if (root !== undefined) assertName(root)
  if (id !== undefined) refuseMisfit('post', 'id', id, filledText)
  assertLine(line, `a letter to the world '${world}'`, { world })
  const bytes = Buffer.byteLength(line)
  if (bytes <= maxLetterBytes) return { id, line, root, world }
  throw new EntiaError(
    'invalid-argument',
    `A letter to the world '${world}' must have at most ${maxLetterBytes} bytes, got ${bytes}. Keep it with ` +
      'store.putText, and write where it is.',
    { world, bytes },
  )
}

export type CheckedBatch = Pick<Write, 'isBusy' | 'record' | 'rows' | 'snapshot' | 'taken' | 'world'> & {
  readonly sent: readonly Post[]
}

/** A copy of a batch. The lines of its snapshot are read here. */
export function checkedBatch(batch: SharedBatch, world: string, record: boolean): CheckedBatch {
  checkOptions(`The batch of the world '${world}'`, batch, batchShapes)
  const rows = (batch.rows ?? []).map(({ tick, line }) => ({ tick, line }))
  const snapshot = batch.snapshot && { tick: batch.snapshot.tick, lines: [...batch.snapshot.lines] }
  for (const { tick, line } of rows) assertLine(line, `row ${tick} of the world '${world}'`, { world })
  for (const line of snapshot?.lines ?? []) {
    assertLine(line, `snapshot ${snapshot?.tick} of the world '${world}'`, { world })
  }
  if (snapshot?.lines.length === 0) {
    throw new EntiaError(
      'invalid-argument',
      `The snapshot of the world '${world}' must have a line or more, got none.`,
      {
        world,
      },
    )
  }
  const { isBusy, sent = [], taken = [] } = batch
  return { world, rows, snapshot, record, isBusy, taken: [...taken], sent: sent.map(checkedPost) }
}
