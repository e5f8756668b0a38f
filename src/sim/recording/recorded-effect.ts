import { OwnedBy } from '../../../components/owned-by.ts'
import { Llm } from '../../../components/llm.ts'
import type { OutcomeData } from '../../../components/outcome.ts'
import { ToolCall } from '../../../components/tool-call.ts'
import type { EffectContext, EffectKind, Work } from '../../engine/effect-kind.ts'
import { parseModel } from '../../models/model-name.ts'
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
      const answer = answering(found)
      if (kind !== 'model' && kind !== 'tool') return answer
      const name = nameOf(kind, world, effect)
      return (context) => {
        const { attempt, key } = context
        return work.call({ kind, name, key, attempt }, (call) => {
          return answer({ ...context, sleep: (ms) => call.sleeping(context.sleep, ms) })
        })
      }
    },
  }
}

function answering(call: RecordedCall | 'broken'): Work {
  return async ({ sleep }: Pick<EffectContext, 'sleep'>): Promise<OutcomeData> => {
    // Something else settles it.
    if (call === 'broken' || typeof call.outcome === 'string') {
      await sleep(Infinity)
      return { ok: false, failure: { kind: 'cancelled', message: 'Nothing was recorded.' } }
    }
    await sleep(call.latencyMs)
    return call.outcome
  }
}

/** Of the tool, or of the model's provider. */
function nameOf(kind: 'model' | 'tool', world: World, effect: Entity): string {
  if (kind === 'tool') return world.read(effect, ToolCall).name
  return parseModel(world.read(world.read(effect, OwnedBy).agent, Llm).model).provider
}
