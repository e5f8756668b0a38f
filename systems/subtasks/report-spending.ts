import { SubtaskAccount, SubtaskCount } from '../../components/subtask-account.ts'
import type { SubtaskSpending } from '../../components/subtask.ts'
import { newlySpent, toldSoFar } from '../../src/context/ledger-entry.ts'
import { added } from '../../src/context/with-added.ts'
import { promptTokensOf } from '../../src/context/prompt-tokens.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { charge } from '../money/charge.ts'
import { noSubtasks } from './launch-subtask.ts'

/**
 * Takes what a subtask has spent so far, all told: what is new of it is charged to its agent. The same again adds nothing,
 * and so does what comes after the last of it.
 */
export function reportSpending(world: World, subtaskId: string, spent: SubtaskSpending): Entity | undefined {
  const account = world.query(SubtaskAccount).find((each) => world.read(each, SubtaskAccount).subtaskId === subtaskId)
  if (account === undefined) return undefined
  const { agent, model, spent: before } = world.read(account, SubtaskAccount)
  const fresh = newlySpent({ ...before, sessions: 0 }, { ...spent, sessions: 0 })
  if (fresh === undefined) return account
  const { sessions: _, ...told } = toldSoFar({ ...before, sessions: 0 }, { ...spent, sessions: 0 })
  const estimated = Math.max(spent.estimated ?? 0, before.estimated ?? 0)
  world.set(account, SubtaskAccount, { agent, model, spent: estimated > 0 ? { ...told, estimated } : told, subtaskId })
  // Of calls that were estimated only the number is told apart: their tokens are among those of the others.
  const guessed = Math.min(fresh.calls ?? 0, estimated - (before.estimated ?? 0))
  charge(world, agent, { ...fresh, call: account, calls: (fresh.calls ?? 0) - guessed, model })
  if (guessed > 0) {
    const costNanoUsd = fresh.costNanoUsd === undefined ? undefined : 0
    charge(world, agent, { call: account, calls: guessed, costNanoUsd, isEstimated: true, model, usage: {} })
  }
  return account
}

/** The same for the last time: the subtask has ended. */
export function closeAccount(world: World, subtaskId: string, spent: SubtaskSpending, truncated: boolean): void {
  const account = reportSpending(world, subtaskId, spent)
  if (account === undefined) return
  const { agent, spent: all } = world.read(account, SubtaskAccount)
  world.despawn(account)
  const count = world.get(agent, SubtaskCount) ?? noSubtasks
  const { calls, costNanoUsd, output = 0 } = all
  const cost = added(count.costNanoUsd, costNanoUsd)
  const hasUnpriced = count.hasUnpriced === true || (calls > 0 && costNanoUsd === undefined)
  world.set(agent, SubtaskCount, {
    ...count,
    ...(cost !== undefined && { costNanoUsd: cost }),
    ended: count.ended + 1,
    ...(hasUnpriced && { hasUnpriced }),
    inputTokens: count.inputTokens + (promptTokensOf({ input: 0, ...all }) ?? 0),
    outputTokens: count.outputTokens + output,
    truncated: count.truncated + (truncated ? 1 : 0),
  })
}
