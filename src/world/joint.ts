import { EntiaError } from '../base/entia-error.ts'
import type { WorldEvent } from './input.ts'
import { JournalCodec } from './journal.ts'
import { readHead } from './restore.ts'
import { canonicalRead, parsedLine, shaped } from './saved-shapes.ts'
import type { SnapshotHead } from './snapshot.ts'

/** First line of a stored snapshot: where the journal continues. */
export interface Joint {
  readonly chain: string
  readonly events: readonly WorldEvent[]
  /** Of entia; absent in old snapshots. */
  readonly version?: string | undefined
}

export interface OpenedSnapshot {
  readonly codec: JournalCodec
  readonly head: SnapshotHead
  readonly lines: readonly string[]
  readonly events: readonly WorldEvent[]
  readonly version: string | undefined
}

/** Reads the lines of a stored snapshot; the codec decodes the rows behind it. @throws `corrupt-snapshot`, `newer-version` */
export function openLines([first = '', ...lines]: readonly string[]): OpenedSnapshot {
  const { chain, events, version } = shaped('joint', canonicalRead(parsedLine(first, corrupt), corrupt), corrupt)
  const head = readHead(lines[0] ?? '')
  return { codec: new JournalCodec(chain, head.header), events, head, lines, version }
}

function corrupt(problem: string): EntiaError {
  return new EntiaError('corrupt-snapshot', `stored snapshot line 1: ${problem}. Restore the store from a copy.`)
}
