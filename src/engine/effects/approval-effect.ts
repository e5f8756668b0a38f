import { type Answer, Approval } from '../../../components/agent/tool-call.ts'
import type { OutcomeData } from '../../protocol/failure.ts'
import type { Judged } from '../../protocol/policy.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import type { Entity } from '../../world/component.ts'
import type { JsonObject } from '../../base/json.ts'
import { thrownMessage } from '../../base/thrown-message.ts'
import type { EffectKind } from './effect-kind.ts'

/** What a user is asked: may this call run? */
export interface ApprovalQuestion extends Judged {
  /** The same after a restart. */
  readonly id: string
  readonly world: string
  readonly agent: Entity
  readonly tool: string
  readonly arguments: JsonObject
  /** Where a policy asks. */
  readonly callId?: string | undefined
  readonly signal: AbortSignal
}

/**
 * Asks a user. Anything but `true` or `approved: true` denies, and so does a throw. `remember` and `stopTurn` of an answer
 * are as in the input `answer`.
 */
export type Approve = (question: ApprovalQuestion) => Promise<Answer | boolean> | Answer | boolean

/** @param approve asks; `by-input`: the question is open until an `answer` input arrives; absent: denied */
export function approvalEffect(approve: Approve | 'by-input' | undefined): EffectKind {
  return {
    isWaiting: true,
    prepare(world, effect) {
      if (approve === 'by-input') return undefined
      const { agent } = world.read(effect, OwnedBy)
      const asked = world.read(effect, Approval)
      const { decision } = asked
      return async ({ signal }) => {
        if (approve === undefined) {
          const why = decision === undefined ? '' : ` (${decision.reason})`
          return answered({ approved: false, reason: `no approval channel${why}` })
        }
        try {
          const answer = await approve({ ...asked, world: world.name, agent, signal })
          return answered(typeof answer === 'boolean' ? { approved: answer } : answer)
        } catch (error) {
          return answered({ approved: false, reason: `asking failed: ${thrownMessage(error)}` })
        }
      }
    },
  }
}

/** A callback may give anything: what is none of these fields is left out. */
function answered({
  approved,
  reason,
  remember,
  stopTurn,
}: Partial<Readonly<Record<keyof Answer, unknown>>>): OutcomeData {
  const value = {
    approved: approved === true,
    ...(typeof reason === 'string' && { reason }),
    ...(typeof remember === 'string' && { remember }),
    ...(stopTurn === true && { stopTurn }),
  }
  return { ok: true, value }
}
