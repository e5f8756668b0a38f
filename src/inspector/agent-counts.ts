import { Conversation } from '../../components/agent/conversation.ts'
import { Llm } from '../../components/agent/llm.ts'
import { rawTokens } from '../rules/tokens/estimate-tokens.ts'
import { reservedNanoUsd } from '../rules/money/spending.ts'
import { countedCalls, factorOf } from '../rules/tokens/request-tokens.ts'
import type { PastWorlds } from './past-worlds.ts'
import type { SpendingQuery, SpendingReply, TokensQuery, TokensReply } from './reading/wire.ts'

const maxCounted = 500

/** What messages of a conversation cost its agent's model to read. @throws `no-such-world` */
export function tokensOf(past: PastWorlds, { agent, from, tick, to, world }: TokensQuery): Promise<TokensReply> {
  return past.at(world, tick, (then) => {
    const model = then.exists(agent) ? then.get(agent, Llm)?.model : undefined
    if (model === undefined) return { tokens: [] }
    const factor = factorOf(model, countedCalls(then, agent).get(model))
    const messages = (then.get(agent, Conversation) ?? []).slice(from, Math.min(to, from + maxCounted))
    return { tokens: messages.map((message) => Math.ceil(factor * rawTokens(message))) }
  })
}

/** What an agent has reserved. @throws `no-such-world` */
export function spendingAt(past: PastWorlds, { agent, tick, world }: SpendingQuery): Promise<SpendingReply> {
  return past.at(world, tick, (then) => ({
    reservedNanoUsd: then.exists(agent) && then.has(agent, Llm) ? reservedNanoUsd(then, agent) : 0,
  }))
}
