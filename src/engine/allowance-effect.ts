import type { Failure } from '../../components/failure.ts'
import type { Json } from '../world/json.ts'
import type { EffectKind } from './effect-kind.ts'

/** Why the next call of a model may not begin; nothing: it may. */
export type MayCall = () => Promise<Failure | undefined>

/** Leave for the next call of a subtask's model, from the world that pays for it. */
export function allowanceEffect(mayCall: MayCall | undefined): EffectKind {
  return {
    isWaiting: true,
    prepare: () => async (context) => {
      const failure = await context.wait(mayCall?.() ?? Promise.resolve(undefined))
      return { ok: true, value: (failure ?? null) as Json }
    },
  }
}
