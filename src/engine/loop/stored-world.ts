import { Archival } from '../../../components/context/archival.ts'
import { loadTokenizer } from '../../rules/tokens/tokenizer.ts'
import type { Store } from '../../stores/port.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { WorldEvent } from '../../world/input.ts'
import { tokensOf } from '../../world/restore.ts'
import type { World } from '../../world/world.ts'
import { JournalWriter, type JournalOptions } from './journal-writer.ts'
import type { Mail } from './letter-box.ts'
import { checkOpenOptions, type OpenRunnerOptions } from './runner-options.ts'

export interface HeldWorld {
  readonly journal?: JournalWriter | undefined
  /** Absent: the world gets no letters. */
  readonly mail?: Mail | undefined
  /** World time that has passed since it was parked. @default 0 */
  readonly sleptMs?: number | undefined
  /** Events of the newest tick, which may not have been emitted. */
  readonly lastEvents?: readonly WorldEvent[]
}

/** Restores or creates a world, with its journal open. @throws `no-such-world`, `world-locked`, and what restoring throws */
export async function openStored(
  options: OpenRunnerOptions,
): Promise<HeldWorld & { readonly world: World; readonly journal: JournalWriter }> {
  checkOpenOptions(options)
  const { store, name, systems, components, create, record } = options
  const journal = await JournalWriter.open(name, { store, record })
  try {
    const found = await journal.restore({ systems, components: tokensOf(components) })
    const world = found?.world ?? create?.()
    if (world === undefined) {
      throw new EntiaError('no-such-world', `The store has no world '${name}'. Pass 'create', or check the name.`)
    }
    if (world.name !== name) {
      const expected = `expected a world named '${name}'`
      throw new EntiaError('invalid-argument', `Runner.open: ${expected}, 'create' made one named '${world.name}'.`)
    }
    if (found !== undefined) world.core.watch()
    return { world, journal, lastEvents: found?.lastEvents ?? [] }
  } catch (error) {
    await journal.close()
    throw error
  }
}

/** Opens a world's journal and writes its snapshot. @throws `world-exists`, `world-locked`, `store-failed` */
export async function beginJournal(
  world: World,
  held: JournalWriter | undefined,
  { store, ...options }: Omit<JournalOptions, 'store'> & { readonly store: Store | undefined },
): Promise<JournalWriter | undefined> {
  if (store === undefined) {
    await prepareTokenizer(world)
    return undefined
  }
  const journal = held ?? (await JournalWriter.open(world.name, { store, ...options }))
  try {
    if (held === undefined && (await journal.isTaken())) {
      const advice = `Resume it with Runner.open({ store, name: '${world.name}', … }), or delete it from the store.`
      throw new EntiaError('world-exists', `The store has a world '${world.name}' already. ${advice}`)
    }
    await journal.begin(world)
    await prepareTokenizer(world)
    return journal
  } catch (error) {
    if (held === undefined) await journal.close()
    throw error
  }
}

/** Loads the tokenizer before the first tick, for a world that measures turns in tokens. */
async function prepareTokenizer(world: World): Promise<void> {
  const { state } = world.core
  const weighs = (agent: number): boolean => world.read(agent, Archival).trigger.tokenThreshold !== null
  if (state.entitiesWith(Archival).some(weighs)) await loadTokenizer()
}

/** A world whose last tick may not be committed, or that has another holder, differs from the store: it stays closed. */
export function isApart(failure: EntiaError | undefined): boolean {
  return failure?.code === 'store-failed' || failure?.code === 'world-fenced'
}
