import { Ancestry, SessionEnd } from '../../../components/sessions/ancestry.ts'
import { Archival } from '../../../components/context/archival.ts'
import { ArchiveJob } from '../../../components/context/archive-job.ts'
import { Conversation } from '../../../components/agent/conversation.ts'
import { CostCeiling } from '../../../components/money/cost-ceiling.ts'
import { EndedTurn } from '../../../components/context/ended-turn.ts'
import { AskedAgain, DraftOf, HolderDraft, Seed } from '../../../components/context/holder.ts'
import { Llm } from '../../../components/agent/llm.ts'
import type { Message } from '../../../src/protocol/message.ts'
import { TokenFactors } from '../../../components/money/token-factors.ts'
import { archivalDecision } from '../../../src/rules/context/archival-decision.ts'
import { isAtLeast, maxTokensOf } from '../../../src/rules/tokens/estimate-tokens.ts'
import { holderTask } from '../../../src/rules/context/holder-task.ts'
import { countUpTo } from '../../../src/rules/projection/places.ts'
import { mostTokensOf } from '../../../src/rules/tokens/most-tokens.ts'
import { factorOf, greatestFactor } from '../../../src/rules/tokens/token-factor.ts'
import type { Entity } from '../../../src/world/component.ts'
import type { World } from '../../../src/world/world.ts'
import { beginEffect } from '../../kit/begin-effect.ts'
import { countCalls } from '../../money/count-calls.ts'
import { emit } from '../../kit/emit.ts'

/** Reasons that go without saying. */
const silent: ReadonlySet<string> = new Set(['disabled', 'empty', 'below_thresholds'])

/** Looks at a turn that has ended, once, and opens a job for it if it is to be archived. */
export function judgeTurn(world: World, ended: Entity): void {
  const { agent, fromSeq, stop, toSeq } = world.read(ended, EndedTurn)
  const config = world.get(agent, Archival)
  if (config === undefined || !world.has(agent, Llm)) return
  const messages = world
    .read(agent, Conversation)
    .slice(countUpTo(world, agent, fromSeq - 1), countUpTo(world, agent, toSeq))
  const { archive, reason } = archivalDecision({
    config,
    depth: world.get(agent, Ancestry)?.sessions.length ?? 0,
    stop,
    sessionOver: hasEndedSession(world, agent),
    latched: world.has(agent, CostCeiling),
    messages,
    estimate: (tokens) => isHeavy(world, agent, messages, tokens),
  })
  if (archive) openJob(world, { agent, fromSeq, reason, task: holderTask(messages[0]), toSeq })
  else if (!silent.has(reason)) emit(world, 'archive-skipped', { agent, reason })
}

/** Are so many messages so many tokens or more? Mostly their size says no, and nothing is counted. */
function isHeavy(world: World, agent: Entity, messages: readonly Message[], tokens: number): boolean {
  let most = 0
  for (const message of messages) most += mostTokensOf(message)
  if (most * greatestFactor < tokens) return false
  if (maxTokensOf(messages) * greatestFactor < tokens) return false
  countCalls(world, agent)
  const { model } = world.read(agent, Llm)
  return isAtLeast(messages, { factor: factorOf(model, world.get(agent, TokenFactors)?.models[model]), tokens })
}

/** A turn that answers a question to a session which had ended is none that ends it. */
function hasEndedSession(world: World, agent: Entity): boolean {
  return world.has(agent, SessionEnd) && !world.has(agent, Seed) && !world.has(agent, AskedAgain)
}

type Turn = Pick<Parameters<typeof ArchiveJob>[0], 'agent' | 'fromSeq' | 'reason' | 'task' | 'toSeq'>

function openJob(world: World, turn: Turn): void {
  const { retry: _, ...llm } = world.read(turn.agent, Llm)
  const subagentId = world.newId('session')
  const job = world.spawn()
  world.set(job, ArchiveJob, {
    ...turn,
    dateMs: world.dateMs,
    llm,
    step: 'holder',
    subagentId,
    summaryBy: world.read(turn.agent, Archival).summary,
    tries: 1,
  })
  world.spawn(HolderDraft({ sessionId: subagentId, tries: 0 }), DraftOf({ job }))
  beginEffect(world, job, { kind: 'holder', restart: 'keyed' })
}
