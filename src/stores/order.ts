import { EntiaError } from '../base/entia-error.ts'
import type { StoredWorld } from './port.ts'
import type { Append, JournalHead, Write } from './medium.ts'

const loadHint = 'If an earlier commit of it was refused, load the world again and go on from there.'

/** The largest tick that fits beside the id of a world. At a thousand ticks a second it is reached after 34 years. */
const maxTick = 2 ** 40 - 1

type Ticks = Pick<Write, 'record' | 'rows' | 'snapshot' | 'world'>

/** The head of a world after a write: the one place that says which ticks may follow. @throws `invalid-argument` */
export function advance(head: JournalHead | undefined, write: Ticks): JournalHead {
  const { rows, snapshot, record } = write
  const start =
    head ?? (snapshot && { oldestSnapshot: snapshot.tick, newestSnapshot: snapshot.tick, tick: snapshot.tick })
  if (!start) throw refused(write, 'nothing of it is written yet, so its first batch needs a snapshot')
  if (snapshot && !(Number.isSafeInteger(snapshot.tick) && snapshot.tick >= Math.max(0, start.newestSnapshot))) {
    const least = Math.max(0, start.newestSnapshot)
    throw refused(write, `expected a snapshot of tick ${least} or later, got tick ${snapshot.tick}`)
  }
  let { tick } = start
  for (const row of rows) {
    if (row.tick !== tick + 1) {
      throw refused(write, `expected tick ${tick + 1} after tick ${tick}, got tick ${row.tick}. ${loadHint}`)
    }
    tick = row.tick
  }
  if (Math.max(tick, snapshot?.tick ?? 0) > maxTick) throw refused(write, `a tick must be at most ${maxTick}`)
  if (!snapshot) return { ...start, tick }
  if (record && snapshot.tick > tick) {
    const hole = `it keeps a recording that ends at tick ${tick}, got a snapshot of tick ${snapshot.tick}`
    throw refused(write, `${hole}. Commit the rows between them too, or open it without 'record'`)
  }
  return {
    oldestSnapshot: record ? start.oldestSnapshot : snapshot.tick,
    newestSnapshot: snapshot.tick,
    tick: Math.max(tick, snapshot.tick),
  }
}

export function assertContiguous(world: string, stored: StoredWorld, place: string): void {
  let tick = stored.snapshot.tick
  for (const row of stored.rows) {
    if (row.tick !== tick + 1) {
      throw new EntiaError(
        'corrupt-journal',
        `Tick ${tick + 1} of the world '${world}' is missing in ${place}: tick ${row.tick} follows tick ${tick}. ` +
          `Put a backup in its place, or remove the world with store.delete('${world}').`,
        { world, place, tick: tick + 1 },
      )
    }
    tick = row.tick
  }
}

function refused(write: Ticks, fact: string): EntiaError {
  const { world } = write
  return new EntiaError('invalid-argument', `The batch for the world '${world}' is refused: ${fact}.`, { world })
}

/** The refusal of a tick that nothing reaches back to. */
export function notKept(world: string, tick: number, oldest: number): EntiaError {
  return new EntiaError(
    'invalid-argument',
    `Tick ${tick} of the world '${world}' is not kept: the oldest that can be read is ${oldest}. Only a world that keeps a ` +
      'recording (record: true) has all its ticks.',
    { world, tick, oldest },
  )
}

/** The refusal of what a holder commits that has a successor. */
export function fencedError(world: string, epoch: number): EntiaError {
  return new EntiaError(
    'world-fenced',
    `The world '${world}' has another holder by now: what its holder of epoch ${epoch} commits is refused. It goes on there; ` +
      'nothing is to be done here.',
    { world, epoch },
  )
}

/** Checks that an append leaves no gap behind the existing lines. @param place of the transcript, for the message */
export function assertReached({ key, from }: Append, lineCount: number, place: string): void {
  if (from <= lineCount) return
  throw new EntiaError(
    'invalid-argument',
    `An append to the transcript '${key}' in ${place} is refused: it begins at line ${from}, and ${lineCount} lines are ` +
      'there. Append the lines between them first. Lines count from 0.',
    { key, place, line: from, lineCount },
  )
}

/** Checks that an append repeats existing lines. @param there those from the place of its first line on */
export function assertRepeated({ key, lines, from }: Append, there: readonly string[], place: string): void {
  const other = lines.findIndex(({ text }, index) => index < there.length && text !== there[index])
  if (other === -1) return
  const line = from + other
  throw new EntiaError(
    'invalid-argument',
    `An append to the transcript '${key}' in ${place} is refused: line ${line} is there and has another text. ` +
      'What is in a transcript stays: read it, and append behind its end.',
    { key, place, line },
  )
}
