import { Inspection, Policy } from '../../../components/agent/policy.ts'
import { OwnedBy } from '../../../components/effects/effect.ts'
import type { EffectKind } from '../../engine/effects/effect-kind.ts'
import type { CallFacts, PolicyCall } from '../../rules/policy/call.ts'
import { type Inspected, policyCallOf } from '../../rules/policy/inspected-call.ts'
import { HostAnswer } from '../../rules/policy/policy.ts'
import type { Json } from '../../base/json.ts'
import { inspectCall } from './inspect-call.ts'
import { pathStyle } from './real-paths.ts'

/** Options of `policyEffects`. */
export interface PolicyEffectsOptions {
  /**
   * Answers instead of the policy's table, with all facts of the call; `undefined`: the table decides. If it throws, or
   * gives anything else, a person is asked. Steps that no config lowers are not its to lower.
   */
  readonly policy?: ((call: PolicyCall) => HostAnswer | undefined | Promise<HostAnswer | undefined>) | undefined
  /** Says where the program of a call runs. Absent: there is no sandbox. */
  readonly sandbox?: ((call: PolicyCall) => Promise<CallFacts['sandbox']>) | undefined
}

/**
 * The effect that inspects calls of agents with a `Policy`: `new Host({ effects: { ...policyEffects() } })`. Without it
 * their calls are denied. What it finds is recorded with the call, so a replay asks and inspects nothing.
 */
export function policyEffects({ policy, sandbox }: PolicyEffectsOptions = {}): { readonly inspect: EffectKind } {
  return {
    inspect: {
      prepare(world, effect) {
        const { call: entity } = world.read(effect, Inspection)
        const { agent } = world.read(effect, OwnedBy)
        const { config } = world.read(agent, Policy)
        const call = { ...policyCallOf(world, agent, entity), pathStyle }
        return async ({ signal }) => {
          const [found, place] = await Promise.all([inspectCall(call, config, signal), sandbox?.(call)])
          const facts: CallFacts = place === undefined ? found : { ...found, sandbox: place }
          const hostAnswer = policy && (await hostAnswerOf(policy, { ...call, facts }))
          const inspected: Inspected = { facts, pathStyle, ...(hostAnswer !== undefined && { hostAnswer }) }
          return { ok: true, value: inspected as Json }
        }
      },
    },
  }
}

/** `null` stands for no answer that counts. */
async function hostAnswerOf(
  policy: NonNullable<PolicyEffectsOptions['policy']>,
  call: PolicyCall,
): Promise<HostAnswer | null | undefined> {
  try {
    const answer = await policy(call)
    return answer === undefined ? undefined : (HostAnswer().safeParse(answer).data ?? null)
  } catch {
    return null
  }
}
