import { canonical } from './canonical.ts'
import type { ChangeInput, Changes, Delta } from './changes.ts'
import type { Core, Driver, Underway } from './core.ts'
import { EntiaError } from '../base/entia-error.ts'
import type { Step } from './journal.ts'
import { canonicalInput, type Input } from './input.ts'
import { inspect } from '../base/inspect.ts'
import { isThenable } from '../base/is-thenable.ts'
import { canonicalRead, shaped } from './saved-shapes.ts'
import type { System } from './world.ts'
import type { World } from './world.ts'

/** Options of `tick`. */
export interface TickOptions {
  /** World time, never decreasing. @default that of the last tick */
  readonly nowMs?: number
  /** Runs before the systems; its writes become the tick's first input. */
  readonly change?: ((world: World) => void) | undefined
  readonly driver?: Driver | undefined
}

/** Its changes stay in the world's state until they are forgotten. */
export interface Ticked extends Omit<Step, 'delta' | 'writers'> {
  /** Another tick is needed at once. */
  readonly again: boolean
}

/** What one tick has done. */
export interface TickResult extends Ticked, Step {
  readonly writers: Readonly<Record<string, string>>
}

/**
 * Runs all systems; undone if one throws.
 * @param inputs are copied, unless they are canonical already
 * @throws `system-failed`; what `change` throws; `not-json`, `invalid-input`; `world-driven`, `in-tick`
 */
export function tick(world: World, inputs: readonly Input[] = [], options: TickOptions = {}): TickResult {
  // A change is read in its own way.
  const known = inputs.map((input) => (input?.kind === 'change' ? input : canonicalInput(input)))
  const ticked = runTick(world, known, options)
  const result = { ...ticked, delta: deltaOf(world), writers: world.core.state.tracking.writers() }
  world.core.state.tracking.forget()
  return result
}

/** Of the tick that has just run, before `forget`. */
export function deltaOf({ core }: World): Delta {
  const delta = core.state.changes(core.header)
  const versions = versionsOf(core, delta)
  return versions === undefined ? delta : { ...delta, versions }
}

/** Keeps the changes in the world's state for `deltaOf`. */
export function runTick(world: World, inputs: readonly Input[], options: TickOptions): Ticked {
  const { core } = world
  const { nowMs, change, driver } = options
  if (core.underway !== undefined) {
    throw new EntiaError('in-tick', `A tick of world '${world.name}' is under way: a system cannot tick its own world.`)
  }
  if (core.driver !== driver) {
    const what = `World '${world.name}' is driven by ${core.driver?.name ?? 'nothing'}`
    throw new EntiaError('world-driven', `${what}: only what drives a world ticks it. Post an input instead.`)
  }
  const before = core.header
  const underway: Underway = { inputs, events: [], writer: 'change', again: false }
  core.beginTick(underway)
  core.tick++
  core.nowMs = Math.max(nowMs ?? core.nowMs, core.nowMs)
  try {
    enter(world, underway, change)
    runSystems(world, underway)
    return { inputs: underway.inputs, events: underway.events, again: underway.again }
  } catch (error) {
    core.state.undo()
    core.header = before
    throw error
  } finally {
    core.state.tracking.stop()
    core.underway = undefined
  }
}

function enter(world: World, underway: Underway, change: TickOptions['change']): void {
  const { core } = world
  const [first] = underway.inputs
  if (change !== undefined) {
    change(world)
    const input = { kind: 'change', ...core.state.changes({}), header: core.header }
    underway.inputs = [canonical(input, () => 'a change', Infinity) as Input, ...underway.inputs]
  } else if (first?.kind === 'change') {
    const refused = (problem: string) =>
      new EntiaError('invalid-input', `Input 'change' of tick ${core.tick}: ${problem}.`)
    const { header, kind: _, ...changes } = shaped('change', canonicalRead(first, refused), refused) as ChangeInput
    core.apply({ ...changes, next: header.next }, `the change before tick ${core.tick}`)
    // Time does not go back to when it was written.
    const { next, ids, random } = header
    core.header = { ...core.header, next, ids, random }
  }
  if (core.inbox.length > 0) underway.inputs = [...underway.inputs, ...core.inbox.splice(0)]
  const started = underway.inputs.find((input) => input.kind === 'started')
  if (started === undefined) return
  core.dateOffsetMs = (started['dateMs'] as number) - core.nowMs
  if (typeof started['run'] === 'string') core.run = started['run']
}

/** The snapshot lacks versions of components first used since. */
function versionsOf({ state }: Core, { set = {} }: Changes): Delta['versions'] {
  const written = state.columns().filter(({ token }) => token.version > 1 && Object.hasOwn(set, token.name))
  if (written.length === 0) return undefined
  return Object.fromEntries(written.map(({ token }) => [token.name, token.version]))
}

/** What a system writes may wake those behind it. */
function runSystems(world: World, underway: Underway): void {
  const { core, systems } = world
  const { presence } = core.state
  const kinds = presence.kindsOf(underway.inputs)
  for (let place = 0; place < systems.length; place++) {
    const awake = presence.pattern.awake.get(kinds) ?? presence.awake(kinds)
    const next = awake[place] as number
    if (core.checksWakes) for (const system of systems.slice(place, next)) checkAsleep(world, system, underway)
    const system = systems[next]
    if (system === undefined) return
    runSystem(world, system, underway)
    place = next
  }
}

/** Runs a sleeping system. @throws `system-failed` if it does anything */
function checkAsleep(world: World, system: System, underway: Underway): void {
  const { core } = world
  const { ids, next, random, state } = core
  const { again, events } = underway
  const before = [state.tracking.revision, ids, next, ...random.state, events.length, again]
  runSystem(world, system, underway)
  const after = [state.tracking.revision, core.ids, core.next, ...random.state, events.length, underway.again]
  if (after.every((mark, index) => mark === before[index])) return
  throw new EntiaError(
    'system-failed',
    `System '${system.name}' has work in tick ${world.tick} of world '${world.name}' that none of its 'wakes' covers: ` +
      'add the input or the component that it depends on.',
    { system: system.name, tick: world.tick, inputs: underway.inputs },
  )
}

function runSystem(world: World, system: System, underway: Underway): void {
  underway.writer = system.name
  try {
    const result: unknown = system.run(world)
    if (result !== undefined && isThenable(result)) {
      // Its rejection must not become an unhandled one.
      result.then(undefined, () => undefined)
      throw new TypeError('it returned a promise; a system is synchronous, what takes time is an effect')
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : inspect(error)
    const kinds = underway.inputs.map((input) => input.kind).join(', ') || 'none'
    throw new EntiaError(
      'system-failed',
      `System '${system.name}' failed in tick ${world.tick} of world '${world.name}' (inputs: ${kinds}): ${reason}. ` +
        'The tick was undone; its inputs are set aside.',
      { system: system.name, tick: world.tick, inputs: underway.inputs },
      { cause: error },
    )
  }
}
