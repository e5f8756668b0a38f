import { SubtaskAccount, SubtaskCount } from '../../components/subtask-account.ts'
import type { Entity } from '../world/component.ts'
import type { World } from '../world/world.ts'
import { added } from './with-added.ts'
import { promptTokensOf } from './prompt-tokens.ts'

/** What an agent's subtasks have spent so far, those under way included; `undefined`: it has had none. */
export function subtasksSpent(
  world: World,
  agent: Entity,
): { readonly tokens: number; readonly costNanoUsd?: number | undefined } | undefined {
  const count = world.get(agent, SubtaskCount)
  if (count === undefined) return undefined
  let tokens = count.inputTokens + count.outputTokens
  let { costNanoUsd } = count
  for (const account of world.referrers(SubtaskAccount, agent)) {
    const { spent } = world.read(account, SubtaskAccount)
    tokens += (promptTokensOf({ input: 0, ...spent }) ?? 0) + (spent.output ?? 0)
    costNanoUsd = added(costNanoUsd, spent.costNanoUsd)
  }
  return { tokens, costNanoUsd }
}
