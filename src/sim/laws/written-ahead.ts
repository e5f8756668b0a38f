import { Effect, Pending, Running } from '../../../components/effects/effect.ts'
import type { Finding, Law, WatchedCall } from '../law.ts'
import { Shadows, type ShadowWorld } from './shadow-world.ts'

export const writtenAhead: Law = {
  name: 'written-ahead',
  meaning: 'Nothing begins before the tick that asks for it is committed.',
  watch(run) {
    const shadows = run.shared(Shadows)
    return {
      began({ world }) {
        shadows.began(world)
        return undefined
      },
      ticked(tick) {
        shadows.ticked(tick)
        return undefined
      },
      called(call) {
        const problem = problemOf(shadows.get(call.world), call)
        if (problem === undefined) return undefined
        return `'${call.name}' begins for effect ${call.effect} of ${call.label}, try ${call.attempt}, and ${problem}`
      },
    }
  },
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
