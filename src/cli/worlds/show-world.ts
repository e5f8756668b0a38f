import type { Store, WorldInfo } from '../../stores/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import { didYouMean } from '../../base/near-names.ts'
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
export async function showWorld(store: Store, options: ShowOptions, out: WorldsOutput): Promise<number> {
  const { from, messages, name, to } = options
  const info = await found(store, options, out.where)
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

/** A root world is looked for first, since for one of a session all databases are looked through. */
async function found(store: Store, { name, root }: ShowOptions, where: string): Promise<WorldInfo> {
  const below = await store.list({ root: root ?? name })
  const direct = below.find((world) => world.name === name && (root === undefined || (world.root ?? name) === root))
  if (direct !== undefined) return direct
  const all = await store.list()
  const others = all.filter((world) => world.name === name && (root === undefined || world.root === root))
  const [first, ...more] = others
  if (first !== undefined && more.length === 0) return first
  if (first !== undefined) {
    const roots = others.map((world) => `--root ${JSON.stringify(world.root ?? world.name)}`).join(', ')
    throw new EntiaError('invalid-argument', `Several worlds are called '${name}'. Name its root world: ${roots}.`, {
      name,
    })
  }
  const near = didYouMean(name, new Set(all.map((world) => world.name)))
  const advice = near || (all.length === 0 ? ' It holds no worlds.' : ' entia worlds list shows what is there.')
  const of = root === undefined ? '' : ` below '${root}'`
  throw new EntiaError('no-such-world', `There is no world '${name}'${of} in ${where}.${advice}`, { world: name })
}
