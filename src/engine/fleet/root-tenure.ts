import type { SharedStore } from '../../stores/port.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../base/entia-error.ts'
import type { World } from '../../world/world.ts'
import type { Host } from '../effects/host.ts'
import { JournalWriter } from '../loop/journal-writer.ts'
import { onceMsOf } from './letting-go.ts'
import { restful, sleptMs, wakeDate } from './waits.ts'
import { fitting } from './fitness.ts'
import { Runner } from '../loop/runner.ts'
import type { RestoreOptions } from '../loop/stored-ticks.ts'

export interface RootParts {
  readonly store: SharedStore
  readonly host: Host
  readonly known: Pick<RestoreOptions, 'components' | 'systems'>
  readonly record?: boolean | undefined
  /** Its holder is thought dead: it is taken from it. */
  readonly isLost?: boolean | undefined
  /** Makes the world of a name that the store does not have. */
  readonly make: (name: string) => World
  /** Milliseconds without work or letters after which it is parked. */
  readonly idleMs: number
  /** The agent that a letter means which names none. @default the only one of the world */
  readonly agentOf?: ((world: World) => Entity) | undefined
  readonly opened?: ((runner: Runner) => void) | undefined
  /** The worker lets go of it: it goes on elsewhere. */
  readonly signal: AbortSignal
}

/**
 * Holds a root world until it has had nothing to do for a while, or the worker lets go.
 * @throws `world-locked`, and what restoring, making and driving it throw. What this worker cannot drive it has not touched
 */
export async function holdRoot(name: string, parts: RootParts): Promise<void> {
  const { host, isLost, known, opened, record, signal, store } = parts
  const read = await fitting(name, parts)
  const fresh = read === undefined ? made(name, parts.make) : undefined
  const held = await JournalWriter.openShared(name, { store, record, seize: isLost })
  // What is not driven to its rest goes on where it is opened next.
  held.journal.wakes = () => 0
  const over = new AbortController()
  const end = (): void => over.abort()
  signal.addEventListener('abort', end)
  if (signal.aborted) end()
  let runner: Runner | undefined
  try {
    const found = await held.journal.restore(known, read)
    const world = found?.world ?? fresh ?? made(name, parts.make)
    if (found !== undefined) world.core.watch()
    const options = { host, store, ...(record !== undefined && { record }) }
    const slept = sleptMs(world, host, held.journal.wasDueMs)
    const driven = (runner = new Runner(world, options, {
      journal: held.journal,
      mail: { ...held.mail, agentOf: parts.agentOf },
      sleptMs: slept,
      lastEvents: found?.lastEvents ?? [],
    }))
    const wakes = wakeDate(world, host, slept)
    const failed = failureOf(driven)
    opened?.(driven)
    await driven.start()
    const resting = restful(
      { world, ticks: () => driven.stats.ticks, idle: () => driven.idle() },
      { ...parts, signal: over.signal },
    )
    await Promise.race([resting, failed])
    if (!signal.aborted) held.journal.wakes = wakes
  } finally {
    signal.removeEventListener('abort', end)
    end()
    if (runner === undefined) await held.journal.close()
    else await runner.stop({ onceMs: onceMsOf(signal) })
  }
}

/** Rejects with what a Runner fails with. */
function failureOf(runner: Runner): Promise<never> {
  const failed = Promise.withResolvers<never>()
  runner.on('runner-failed', ({ error, world }) => {
    if (world === runner.world.name) failed.reject(error)
  })
  // Not waited for where the worker lets go.
  failed.promise.catch(() => undefined)
  return failed.promise
}

function made(name: string, make: (name: string) => World): World {
  const world = make(name)
  if (world.name === name) return world
  const what = `The world '${name}' was made with the name '${world.name}'`
  throw new EntiaError('invalid-argument', `${what}. Write new World({ name, systems }).`, { world: name })
}
