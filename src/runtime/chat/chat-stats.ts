import { Conversation } from '../../../components/agent/conversation.ts'
import { PolicyState } from '../../../components/agent/policy.ts'
import { Usage } from '../../../components/money/usage.ts'
import { type ContextStats, contextStats, type ModelRow } from '../../rules/context/context-stats.ts'
import { inTurns } from '../../rules/projection/places.ts'
import type { Entity } from '../../world/component.ts'
import type { World } from '../../world/world.ts'

/** What a chat session has done and used so far. */
export interface ChatStats {
  readonly turns: number
  /** Model calls of its agent. */
  readonly steps: number
  /** Tool calls of its agent, refused ones too. */
  readonly toolCalls: number
  /** Of all models, subagents' included. `input` includes what was read from a cache and written to one. */
  readonly tokens: {
    readonly input: number
    readonly cacheRead: number
    readonly cacheWrite: number
    readonly output: number
  }
  /** US dollars, without the calls whose cost is unknown. */
  readonly costUsd: number
  /** Models with calls that have no price, as `provider/model`. */
  readonly unpriced: readonly string[]
  readonly models: readonly ModelRow[]
  readonly context: ContextStats
}

export function chatStats(world: World, agent: Entity): ChatStats {
  const messages = world.read(agent, Conversation).slice()
  const context = contextStats(world, agent)
  const { models } = context
  const sum = (of: (row: ModelRow) => number): number => models.reduce((total, row) => total + of(row), 0)
  return {
    turns: inTurns(messages).at(-1)?.turn ?? 0,
    steps: world.get(agent, Usage)?.calls ?? 0,
    toolCalls: world.get(agent, PolicyState)?.calls ?? 0,
    tokens: {
      input: sum((row) => row.inputTokens),
      cacheRead: sum((row) => row.cacheReadTokens),
      cacheWrite: sum((row) => row.cacheWriteTokens),
      output: sum((row) => row.outputTokens),
    },
    costUsd: context.cost.sessionUsd,
    unpriced: models.flatMap(({ model, unpriced }) => (unpriced > 0 ? [model] : [])),
    models,
    context,
  }
}
