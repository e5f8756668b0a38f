import { EntiaError } from '../../base/entia-error.ts'
import { databaseColumn, type StoreAt } from '../fleet/fleet-store.ts'
import { findWorld } from './find-world.ts'
import { jsonOf } from './list-worlds.ts'
import { type StoredView, storedView } from './stored-view.ts'
import { headLines, viewLines } from './view-lines.ts'
import { type WorldsOutput, writeLines } from './world-lines.ts'

interface ShowOptions {
  readonly name: string
  readonly root: string | undefined
  readonly from: number | undefined
  readonly to: number | undefined
  /** How many messages of each agent. */
  readonly messages: number
}

/** `entia worlds show`: returns the exit code. @throws `no-such-world`, and what reading and restoring throw */
export async function showWorld(stores: readonly StoreAt[], options: ShowOptions, out: WorldsOutput): Promise<number> {
  const { from, messages, name, to } = options
  const found = await findWorld(stores, options, out)
  const { store } = found
  const info = { ...databaseColumn(stores, found), ...found.info }
  let view: StoredView | undefined
  let failure = info.unreadable
  try {
    if (failure === undefined) {
      const stored = await store.read(name, { root: info.root, from, to })
      view = stored === undefined ? undefined : shownFrom(storedView(name, stored, { messages }), from)
    }
  } catch (error) {
    if (!(error instanceof EntiaError)) throw error
    failure = error
  }
  if (out.isJson) {
    if (failure !== undefined) throw failure
    out.write(`${JSON.stringify({ ...jsonOf(info), ...view })}\n`)
    return 0
  }
  // Who has it, and what waits for it, is worth knowing of a world that cannot be read, too.
  writeLines(headLines(info, view, out), out)
  if (failure !== undefined) throw failure
  if (view === undefined) out.write('\nNothing has been written of it yet.\n')
  else writeLines(viewLines(view, { hasAllTicks: from !== undefined, isHeld: info.heldBy !== undefined }, out), out)
  return 0
}

/** The ticks that were asked for, and not those that were read on the way there. */
function shownFrom(view: StoredView, from: number | undefined): StoredView {
  return from === undefined ? view : { ...view, ticks: view.ticks.filter(({ tick }) => tick >= from) }
}
