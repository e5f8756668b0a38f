import { Llm } from '../../../components/agent/llm.ts'
import { type RetryPolicy, standardRetry } from '../../protocol/failure.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'
import { knownHost } from './known-host.ts'
import { parseModel } from './model-name.ts'

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
