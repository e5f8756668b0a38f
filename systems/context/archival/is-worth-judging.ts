import { Ancestry } from '../../../components/sessions/ancestry.ts'
import { Archival, type ArchivalData } from '../../../components/context/archival.ts'
import { ArchiveJob } from '../../../components/context/archive-job.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { CostCeiling } from '../../../components/money/cost-ceiling.ts'
import { Delegated } from '../../../components/sessions/delegation-limits.ts'
import type { Stop } from '../../../components/agent/last-turn.ts'
import type { Message } from '../../../src/protocol/message.ts'
import { SideCall } from '../../../components/effects/side-call.ts'
import { mostTokensOf } from '../../../src/rules/tokens/most-tokens.ts'
import { countUpTo } from '../../../src/rules/projection/places.ts'
import { greatestFactor } from '../../../src/rules/tokens/token-factor.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { World } from '../../../src/world/world.ts'

/** A turn that ends with the conversation as it is. */
export interface EndingTurn {
  readonly fromSeq: number
  readonly stop: Stop
}

/**
 * Is there something to be judged about a turn that ends? Not if it ends well and is light: mostly its size says that, and
 * then no entity has to stand for it.
 */
export function isWorthJudging(world: World, agent: Entity, { fromSeq, stop }: EndingTurn): boolean {
  const config = world.get(agent, Archival)
  if (config === undefined) return false
  if (stop !== 'done' || config.trigger.depthCap === 0 || mayChange(world, agent)) return true
  return config.enabled && mayBeHeavy(world, agent, config, fromSeq)
}

/** What decides about it may not be known yet: whether a session is over, or what is in flight reaches a ceiling. */
function mayChange(world: World, agent: Entity): boolean {
  if (world.has(agent, Ancestry) || world.has(agent, CostCeiling) || world.has(agent, Delegated)) return true
  return world.isReferred(ArchiveJob, agent) || world.isReferred(SideCall, agent)
}

function callsIn({ content }: Message): number {
  let calls = 0
  for (let index = 0; index < content.length; index++) if (content[index]?.type === 'tool-call') calls++
  return calls
}

function mayBeHeavy(world: World, agent: Entity, { trigger }: ArchivalData, fromSeq: number): boolean {
  const { tokenThreshold, toolCallThreshold } = trigger
  const messages = world.get(agent, Conversation) ?? []
  let calls = 0
  let tokens = 0
  for (let index = Math.max(0, countUpTo(world, agent, fromSeq) - 1); index < messages.length; index++) {
    const message = messages[index]
    if (message === undefined) continue
    tokens += mostTokensOf(message)
    if (message.role === 'assistant') calls += callsIn(message)
  }
  if (toolCallThreshold !== null && calls >= toolCallThreshold) return true
  return tokenThreshold !== null && tokens * greatestFactor >= tokenThreshold
}
