import { agent, defineComponent, standardSystems, type Store, World } from '../../../src/index.ts'
import { JournalCodec } from '../../../src/world/journal.ts'
import { tick } from '../../../src/world/tick.ts'
import { z } from 'zod'

const Seen = defineComponent('Seen', z.strictObject({ ships: z.number() }))
/** Of a snapshot, as a Runner takes one of a recorded world. */
const ticksPerSnapshot = 500
const rowsPerCommit = 1_000

/** Writes a recorded world of so many agents, one of which counts a ship in each tick. */
export async function writeLongRun(
  store: Store,
  of: { readonly agents: number; readonly rows: number },
): Promise<World> {
  const counting = {
    name: 'counting',
    priority: 0,
    run: (world: World) => world.set(1 + ((world.tick * 7) % of.agents), Seen, { ships: world.tick }),
  }
  const world = new World({ name: 'crowd', seed: 6, systems: [counting], components: [Seen] })
  for (let made = 0; made < of.agents; made++)
    world.spawn(...agent({ model: 'script/keeper', system: 'You count the ships that pass by night.' }))
  const journal = await store.open('crowd', { record: true })
  const lines = [...world.snapshot()]
  const { end } = JSON.parse(lines.at(-1) ?? '') as { readonly end: { readonly sha256: string } }
  const codec = new JournalCodec(end.sha256, world.core.header)
  await journal.commit({ snapshot: { tick: 0, lines: [joint(end.sha256), ...lines] } })
  let chars = 0
  let snapshotChars = lines.reduce((sum, line) => sum + line.length, 0)
  let newest = 0
  let rows: { tick: number; line: string }[] = []
  for (let at = 1; at <= of.rows; at++) {
    const { delta, events } = tick(world, [{ kind: 'night' }], { nowMs: at * 60_000 })
    const line = codec.encode({ inputs: [{ kind: 'night' }], delta, events, writers: { Seen: 'counting' } })
    rows.push({ tick: at, line })
    chars += line.length
    if (rows.length < rowsPerCommit && at < of.rows) continue
    const isDue = at - newest >= ticksPerSnapshot && chars >= snapshotChars / 2
    const saved = isDue ? [joint(codec.chain), ...world.snapshot()] : undefined
    await journal.commit({ rows, ...(saved && { snapshot: { tick: at, lines: saved } }) })
    rows = []
    if (saved === undefined) continue
    newest = at
    chars = 0
    snapshotChars = saved.reduce((sum, one) => sum + one.length, 0)
  }
  await journal.close()
  return world
}

/** Writes so many worlds, a hundred to a root, each with an agent. */
export async function writeManyWorlds(store: Store, count: number): Promise<void> {
  // The journal of a root stays open while its sessions are written: its database is opened once.
  let rootJournal: Awaited<ReturnType<Store['open']>> | undefined
  for (let made = 0; made < count; made++) {
    const root = `root-${String(Math.floor(made / 100)).padStart(3, '0')}`
    const isRoot = made % 100 === 0
    const name = isRoot ? root : `${root}-session-${String(made % 100).padStart(2, '0')}`
    const world = new World({ name, seed: made, systems: standardSystems() })
    world.spawn(...agent({ model: 'script/keeper', messages: 'Which ships passed?' }))
    const lines = [...world.snapshot()]
    const { end } = JSON.parse(lines.at(-1) ?? '') as { readonly end: { readonly sha256: string } }
    if (isRoot) await rootJournal?.close()
    const journal = await store.open(name, isRoot ? {} : { root })
    if (isRoot) rootJournal = journal
    await journal.commit({ snapshot: { tick: 0, lines: [joint(end.sha256), ...lines] } })
    if (!isRoot) await journal.close()
  }
  await rootJournal?.close()
}

function joint(chain: string): string {
  return JSON.stringify({ chain, events: [] })
}
