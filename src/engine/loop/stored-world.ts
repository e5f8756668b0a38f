import { Archival } from '../../../components/context/archival.ts'
import { loadTokenizer } from '../../rules/tokens/tokenizer.ts'
import type { Store } from '../../stores/port.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { WorldEvent } from '../../world/input.ts'
import { tokensOf } from '../../world/restore.ts'
import type { World } from '../../world/world.ts'
import { Keeper, type KeeperOptions } from './keeper.ts'
import { checkOpenOptions, type OpenRunnerOptions } from './runner-options.ts'

/** What holds a world already that is to be driven. */
export interface HeldWorld {
  readonly keeper?: Keeper | undefined
  /** What the newest tick told, which may not have been heard. */
  readonly told?: readonly WorldEvent[]
}

/**
 * The world of a name as its store has it, or made anew, and held.
 *
 * @throws `no-such-world`, `world-locked`, and what restoring throws
 */
export async function openStored(
  options: OpenRunnerOptions,
): Promise<HeldWorld & { readonly world: World; readonly keeper: Keeper }> {
  checkOpenOptions(options)
  const { store, name, systems, components, create, record } = options
  const keeper = await Keeper.open(name, { store, record })
  try {
    const found = await keeper.restore({ systems, components: tokensOf(components) })
    const world = found?.world ?? create?.()
    if (world === undefined) {
      throw new EntiaError('no-such-world', `The store has no world '${name}'. Pass 'create', or check the name.`)
    }
    if (world.name !== name) {
      const expected = `expected a world named '${name}'`
      throw new EntiaError('invalid-argument', `Runner.open: ${expected}, 'create' made one named '${world.name}'.`)
    }
    if (found !== undefined) world.core.watch()
    return { world, keeper, told: found?.told ?? [] }
  } catch (error) {
    await keeper.close()
    throw error
  }
}

/**
 * Writes a world down that is new to its store, or taken from it, and gives what keeps it from then on. Without a store
 * nothing does.
 *
 * @param held what keeps it already
 * @throws `world-exists`, `world-locked`, `store-failed`
 */
export async function beginKeeping(
  world: World,
  held: Keeper | undefined,
  { store, ...options }: Omit<KeeperOptions, 'store'> & { readonly store: Store | undefined },
): Promise<Keeper | undefined> {
  if (store === undefined) {
    await loadedTokenizer(world)
    return undefined
  }
  const keeper = held ?? (await Keeper.open(world.name, { store, ...options }))
  try {
    if (held === undefined && (await keeper.isTaken())) {
      const advice = `Resume it with Runner.open({ store, name: '${world.name}', … }), or delete it from the store.`
      throw new EntiaError('world-exists', `The store has a world '${world.name}' already. ${advice}`)
    }
    await keeper.begin(world)
    await loadedTokenizer(world)
    return keeper
  } catch (error) {
    if (held === undefined) await keeper.close()
    throw error
  }
}

/** A world whose turns are weighed by their tokens does not load the tokenizer in the midst of a tick. */
async function loadedTokenizer(world: World): Promise<void> {
  const { state } = world.core
  const weighs = (agent: number): boolean => world.read(agent, Archival).trigger.tokenThreshold !== null
  if (state.entitiesWith(Archival).some(weighs)) await loadTokenizer()
}
