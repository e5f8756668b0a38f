import { SubtaskAccount, SubtaskCount } from '../../components/subtask-account.ts'
import type { SessionUsage } from '../../components/subagent-session.ts'
import { Turn } from '../../components/turn.ts'
import { added } from '../../src/context/ledger-entry.ts'
import { promptTokensOf } from '../../src/context/prompt-tokens.ts'
import { usageSince } from '../../src/subagents/grants.ts'
import type { Entity } from '../../src/world/component.ts'
import type { World } from '../../src/world/world.ts'
import { charge } from '../charge.ts'
import { noSubtasks } from './launch-subtask.ts'

/**
 * Takes what a subtask has spent so far, all told: what is new of it is charged to its agent. The same again adds nothing,
 * and so does what comes after the last of it.
 */
export function reportSpending(world: World, subtaskId: string, spent: SessionUsage): Entity | undefined {
  const account = world.query(SubtaskAccount).find((each) => world.read(each, SubtaskAccount).subtaskId === subtaskId)
  if (account === undefined) return undefined
  const { agent, model, spent: before, turnStartedAtMs } = world.read(account, SubtaskAccount)
  const { calls, costNanoUsd, delegatedTokens: _tokens, sessions: _sessions, ...usage } = usageSince(before, spent)
  if (calls <= 0) return account
  // A turn that is over takes no more: then it counts for the agent's life alone.
  const isLate = turnStartedAtMs === undefined || world.get(agent, Turn)?.startedAtMs !== turnStartedAtMs
  charge(world, agent, { calls, costNanoUsd, isLate, model, usage })
  world.patch(account, SubtaskAccount, { spent })
  return account
}

/** The same for the last time: the subtask has ended. */
export function closeAccount(world: World, subtaskId: string, spent: SessionUsage, truncated: boolean): void {
  const account = reportSpending(world, subtaskId, spent)
  if (account === undefined) return
  const { agent, spent: all } = world.read(account, SubtaskAccount)
  world.despawn(account)
  const count = world.get(agent, SubtaskCount) ?? noSubtasks
  const { costNanoUsd, output = 0 } = all
  const cost = added(count.costNanoUsd, costNanoUsd)
  world.set(agent, SubtaskCount, {
    ...count,
    ...(cost !== undefined && { costNanoUsd: cost }),
    ended: count.ended + 1,
    inputTokens: count.inputTokens + (promptTokensOf({ input: 0, ...all }) ?? 0),
    outputTokens: count.outputTokens + output,
    truncated: count.truncated + (truncated ? 1 : 0),
  })
}
