import type { Failure } from '../../components/failure.ts'
import { Llm } from '../../components/llm.ts'
import { ModelCall } from '../../components/model-call.ts'
import type { OutcomeData } from '../../components/outcome.ts'
import { OwnedBy } from '../../components/owned-by.ts'
import { parseModel } from '../models/model-name.ts'
import type { ModelOutcome, ModelProvider } from '../models/port.ts'
import { costNanoUsd, type Price } from '../models/prices.ts'
import { project } from '../models/project.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import type { EffectKind } from './effect-kind.ts'
import type { StreamEvent } from './events.ts'

/** Where model calls find their providers. */
export interface ModelHost {
  provider(name: string): ModelProvider
  /** What a model costs, if that is known. */
  price(model: string): Price | undefined
  /** Starts no call of a provider for so long. Gives the instant, on the clock, at which they go on. */
  hold(name: string, durationMs: number): number
}

/** Model calls: projected from the world when they begin, done by the provider, streamed to listeners. */
export function modelEffect(host: ModelHost): EffectKind {
  return {
    queue: (world, effect) => parseModel(modelOf(world, effect)).provider,
    prepare(world, effect) {
      const { agent } = world.read(effect, OwnedBy)
      const model = modelOf(world, effect)
      const { provider } = parseModel(model)
      const request = project(world, agent, world.read(effect, ModelCall).messages)
      return async ({ attempt, key, signal, sleep, tell }) => {
        let index = 0
        const place = { world: world.name, agent, effect, attempt }
        const outcome = await host.provider(provider).call(request, {
          signal,
          key,
          attempt,
          sleep,
          onDelta: (delta) => tell({ type: 'model-delta', ...place, index: index++, delta }),
        })
        if (index > 0 && (!outcome.ok || signal.aborted)) tell({ type: 'model-discarded', ...place })
        if (!outcome.ok) hold(host, provider, outcome.failure, world, tell)
        return settled(outcome, model, host.price(model))
      }
    },
  }
}

function modelOf(world: World, effect: Entity): string {
  return world.read(world.read(effect, OwnedBy).agent, Llm).model
}

/** A provider that asks to be left alone is left alone by all its callers. */
function hold(
  host: ModelHost,
  provider: string,
  failure: Failure,
  world: World,
  tell: (event: StreamEvent) => void,
): void {
  if (failure.retryAfterMs === undefined || failure.retryAfterMs <= 0) return
  const untilMs = host.hold(provider, failure.retryAfterMs)
  tell({ type: 'provider-held', world: world.name, provider, untilMs })
}

/** The message remembers which model wrote it; what it cost is known where the model has a price. */
function settled(outcome: ModelOutcome, model: string, price: Price | undefined): OutcomeData {
  if (!outcome.ok) return outcome
  const { message, stop, usage } = outcome.value
  const cost = price === undefined ? {} : { costNanoUsd: costNanoUsd(usage, price) }
  return { ok: true, value: { ...cost, message: { content: message.content, model, role: 'assistant' }, stop, usage } }
}
