import { Approval } from '../../../components/agent/tool-call.ts'
import { Effect, Pending } from '../../../components/effects/effect.ts'
import type { SharedStore } from '../../stores/port.ts'
import type { Entity } from '../../world/component.ts'
import { EntiaError } from '../../world/entia-error.ts'
import type { World } from '../../world/world.ts'
import { untilAborted } from '../effects/until-aborted.ts'
import type { Host } from '../effects/host.ts'
import { JournalWriter } from '../loop/journal-writer.ts'
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
 * @throws `world-locked`, and what restoring, making and driving it throw
 */
export async function holdRoot(name: string, parts: RootParts): Promise<void> {
  const { host, isLost, opened, record, signal, store } = parts
  const held = await JournalWriter.openShared(name, { store, record, seize: isLost })
  let runner: Runner | undefined
  try {
    const found = await held.journal.restore(parts.known)
    const world = found?.world ?? made(name, parts.make)
    if (found !== undefined) world.core.watch()
    const options = { host, store, ...(record !== undefined && { record }) }
    runner = new Runner(world, options, {
      journal: held.journal,
      mail: { ...held.mail, agentOf: parts.agentOf },
      lastEvents: found?.lastEvents ?? [],
    })
    opened?.(runner)
    await runner.start()
    await untilAborted(restful(runner, parts), signal)
    // What is in flight goes on where it is opened next.
    if (signal.aborted) held.journal.wakeAtMs = 0
  } finally {
    if (runner === undefined) await held.journal.close()
    else await runner.stop()
  }
}

/** How often a world with work in flight is asked at most whether it only waits for people. */
const shortestLookMs = 1_000

/** Resolves once a world has had nothing in flight for a while but questions to people, which may take as long as they like. */
async function restful(runner: Runner, { host, idleMs, signal }: RootParts): Promise<void> {
  let idle: Promise<boolean> | undefined
  for (;;) {
    idle ??= runner.idle().then(() => true)
    const looked = new AbortController()
    const later = pause(host, Math.max(idleMs, shortestLookMs), AbortSignal.any([signal, looked.signal]))
    const isIdle = await Promise.race([idle, later.then(() => false)])
    looked.abort()
    if (signal.aborted) return
    if (isIdle) idle = undefined
    else if (!waitsForPeople(runner)) continue
    const { ticks } = runner.stats
    await pause(host, idleMs, signal)
    const { inFlight, ticks: ticksNow } = runner.stats
    if (ticksNow === ticks && (inFlight === 0 || waitsForPeople(runner))) return
  }
}

/** All that is in flight are questions to people without a deadline. They are asked again when the world is opened. */
function waitsForPeople({ stats, world }: Runner): boolean {
  const asked = world.query(Approval, Pending)
  const isTimed = asked.some((approval) => world.read(approval, Effect).deadlineMs !== undefined)
  return asked.length > 0 && asked.length === stats.inFlight && !isTimed
}

function pause({ clock }: Host, durationMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = clock.at(clock.now() + durationMs, end)
    signal.addEventListener('abort', end, { once: true })
  })
}

function made(name: string, make: (name: string) => World): World {
  const world = make(name)
  if (world.name === name) return world
  const what = `The world '${name}' was made with the name '${world.name}'`
  throw new EntiaError('invalid-argument', `${what}. Write new World({ name, systems }).`, { world: name })
}
