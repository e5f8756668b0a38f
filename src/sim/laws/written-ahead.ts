import { Effect, Pending, Running } from '../../../components/effects/effect.ts'
import type { Entity } from '../../world/component.ts'
import type { Finding, Law, WatchedCall } from '../law.ts'
import { Shadows, type ShadowWorld } from './shadow-world.ts'

export const writtenAhead: Law = {
  name: 'written-ahead',
  meaning: 'Nothing begins before the tick that asks for it is committed.',
  watch(run) {
    const shadows = run.shared(Shadows)
    /** Of each try, the tick that asks for it, and of a 'once' tool the one that marks it as running. */
    const asked = new Map<string, number>()
    const marked = new Map<string, number>()
    return {
      began({ label, world }) {
        shadows.began(world)
        if (run.processes === 1) return undefined
        for (const effect of world.entitiesWith(Effect)) {
          const at = tryOf(label, effect, world.read(effect, Effect).attempt)
          note(asked, at, world.tick)
          if (world.has(effect, Running)) note(marked, at, world.tick)
        }
        return undefined
      },
      ticked(tick) {
        shadows.ticked(tick)
        if (run.processes === 1) return undefined
        const { changes, label, world } = tick
        for (const [effect, { attempt }] of changes.of(Effect).set) {
          note(asked, tryOf(label, effect, attempt), world.tick)
        }
        for (const [effect] of changes.of(Running).set) {
          const attempt = world.get(effect, Effect)?.attempt
          if (attempt !== undefined) note(marked, tryOf(label, effect, attempt), world.tick)
        }
        return undefined
      },
      called(call) {
        const problem = problemOf(shadows.get(call.world), call)
        if (problem === undefined) return undefined
        return `'${call.name}' begins for effect ${call.effect} of ${call.label}, try ${call.attempt}, and ${problem}`
      },
      // Others have committed since; it goes by what was committed here.
      calledLate({ attempt, committedTick, effect, label, name, process, restart }) {
        const at = tryOf(label, effect, attempt)
        const tick = (restart === 'once' ? marked : asked).get(at) ?? Infinity
        if (tick <= committedTick) return undefined
        const by = tick === Infinity ? 'no tick' : `tick ${tick}`
        return `'${name}' begins for effect ${effect} of ${label} in ${process}, by ${by}, and it could commit only ${committedTick}`
      },
    }
  },
}

/** The first counts. */
function note(ticks: Map<string, number>, at: string, tick: number): void {
  if (!ticks.has(at)) ticks.set(at, tick)
}

function tryOf(label: string, effect: Entity, attempt: number): string {
  return `${label} ${effect} ${attempt}`
}

/** @param committed the world as a crash now would leave it */
function problemOf(committed: ShadowWorld | undefined, { effect, attempt, restart }: WatchedCall): Finding {
  const asked = committed?.value(effect, Effect.name) as { readonly attempt: number } | undefined
  if (committed === undefined || asked === undefined) return 'no committed tick has asked for it'
  if (asked.attempt !== attempt) return `as committed it is at try ${asked.attempt}`
  if (committed.value(effect, Running.name) !== undefined) return undefined
  if (restart === 'once') return 'it is not marked as running in any committed tick'
  return committed.value(effect, Pending.name) === undefined ? 'as committed it is not to be done' : undefined
}
