import { type Answer, Approval } from '../../../components/agent/tool-call.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import type { Entity } from '../../world/component.ts'
import type { JsonObject } from '../../world/json.ts'
import { thrownMessage } from '../../rules/text/thrown-message.ts'
import type { EffectKind } from './effect-kind.ts'

/** What a user is asked: may this call run? */
export interface ApprovalQuestion {
  /** The same after a restart. */
  readonly id: string
  readonly world: string
  readonly agent: Entity
  readonly tool: string
  readonly arguments: JsonObject
  readonly signal: AbortSignal
}

/** Asks a user. Anything but `true` or `approved: true` denies, and so does a throw. */
export type Approve = (question: ApprovalQuestion) => Promise<Answer | boolean> | Answer | boolean

/** @param approve asks; `by-input`: the question is open until an `answer` input arrives; absent: denied */
export function approvalEffect(approve: Approve | 'by-input' | undefined): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      if (approve === 'by-input') return undefined
      const { agent } = world.read(effect, OwnedBy)
      const { id, tool, arguments: input } = world.read(effect, Approval)
      return async ({ signal }) => {
        if (approve === undefined) return answered({ approved: false, reason: 'no approval channel' })
        try {
          const answer = await approve({ id, world: world.name, agent, tool, arguments: input, signal })
          return answered(typeof answer === 'boolean' ? { approved: answer } : answer)
        } catch (error) {
          return answered({ approved: false, reason: `asking failed: ${thrownMessage(error)}` })
        }
      }
    },
  }
}

function answered({ approved, reason }: Answer): OutcomeData {
  return { ok: true, value: { approved, ...(typeof reason === 'string' && { reason }) } }
}
