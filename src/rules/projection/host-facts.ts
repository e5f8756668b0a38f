import { HostFacts } from '../../../components/agent/host-facts.ts'
import type { HostFactsData } from '../../protocol/host.ts'
import type { World } from '../../world/world.ts'
import { Llm } from '../../../components/agent/llm.ts'
import { type RetryPolicy, standardRetry } from '../../protocol/failure.ts'
import type { Entity } from '../../world/component.ts'
import { parseModel } from './model-name.ts'

/** What a World knows of the Host that drives it; `undefined` as long as none has. */
export function knownHost(world: World): HostFactsData | undefined {
  const [host] = world.query(HostFacts)
  return host === undefined ? undefined : world.read(host, HostFacts)
}

/** When calls of a model that an agent makes are tried again: as the agent says, or its provider, or the standard policy. */
export function retryPolicyOf(world: World, agent: Entity, model: string): RetryPolicy | false {
  const { retry: own } = world.read(agent, Llm)
  if (own !== undefined) return own
  return knownHost(world)?.retry?.[parseModel(model).provider] ?? standardRetry
}

/** The longest wait that a provider may ask for, in milliseconds. */
export function maxRetryAfterMsOf(policy: RetryPolicy | false): number {
  return (policy === false ? undefined : policy.maxRetryAfterMs) ?? standardRetry.maxRetryAfterMs
}
