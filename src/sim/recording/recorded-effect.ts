import { OwnedBy } from '../../../components/effects/effect.ts'
import { Llm } from '../../../components/agent/llm.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { ToolCall } from '../../../components/agent/tool-call.ts'
import type { EffectKind } from '../../engine/effects/effect-kind.ts'
import { parseModel } from '../../rules/projection/model-name.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import type { SimulatedWork } from '../simulated-work.ts'
import type { RecordedCall } from './recorded-call.ts'

/** Finds what a recording has of an effect that begins. `scripted`: nothing, and it is to be done; `broken`: nothing. */
export type Recall = (world: World, effect: Entity) => RecordedCall | 'scripted' | 'broken'

/**
 * Effects of a kind that are answered out of a recording, in the time that it took then.
 *
 * @param inner how they are done that the recording does not have
 */
export function recordedEffect(kind: string, inner: EffectKind, recall: Recall, work: SimulatedWork): EffectKind {
  return {
    isWaiting: inner.isWaiting ?? false,
    queue: (world, effect) => inner.queue?.(world, effect),
    prepare(world, effect) {
      const found = recall(world, effect)
      if (found === 'scripted') return inner.prepare(world, effect)
      const { latencyMs, outcome } = answerOf(found)
      if (kind !== 'model' && kind !== 'tool') return ({ sleep }) => sleep(latencyMs).then(() => outcome)
      const name = nameOf(kind, world, effect)
      return ({ attempt, key, sleep }) =>
        work.call({ kind, name, key, attempt }, sleep, (call) => call.does(() => outcome, latencyMs))
    },
  }
}

/** When it comes, and what. Where nothing was recorded, something else settles the effect. */
function answerOf(call: RecordedCall | 'broken'): { readonly latencyMs: number; readonly outcome: OutcomeData } {
  if (call !== 'broken' && typeof call.outcome !== 'string') return { latencyMs: call.latencyMs, outcome: call.outcome }
  const failure = { kind: 'cancelled', message: 'Nothing was recorded.' } as const
  return { latencyMs: Infinity, outcome: { ok: false, failure } }
}

/** Of the tool, or of the model's provider. */
function nameOf(kind: 'model' | 'tool', world: World, effect: Entity): string {
  if (kind === 'tool') return world.read(effect, ToolCall).name
  return parseModel(world.read(world.read(effect, OwnedBy).agent, Llm).model).provider
}
