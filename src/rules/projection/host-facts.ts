import { HostFacts } from '../../../components/agent/host-facts.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import type { World } from '../../world/world.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { type RetryPolicy, standardRetry } from '../../protocol/failure.ts'
import type { Entity } from '../../world/component.ts'
import { parseModel } from '../../protocol/model-name.ts'

/** What a World knows of its Host; `undefined` before the first one. */
export function knownHost(world: World): HostFactsData | undefined {
  const [host] = world.query(HostFacts)
  return host === undefined ? undefined : world.read(host, HostFacts)
}

/** The retry policy of an agent's model call: the agent's, else its provider's, else the standard one. */
export function retryPolicyOf(world: World, agent: Entity, model: string): RetryPolicy | false {
  const { retry: own } = world.read(agent, Llm)
  if (own !== undefined) return own
  return knownHost(world)?.retry?.[parseModel(model).provider] ?? standardRetry
}

/** The longest delay that a provider may ask for, in milliseconds. */
export function maxRetryAfterMsOf(policy: RetryPolicy | false): number {
  return (policy === false ? undefined : policy.maxRetryAfterMs) ?? standardRetry.maxRetryAfterMs
}
